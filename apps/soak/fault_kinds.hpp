// The faults of a soak, as the table in faults.cpp lists them: those of the sender, of others at the source of frames, of
// viewers and browsers, of many peers at once, of whoever controls the server, and of the disk, a file each.
#pragma once

#include "apps/soak/faults.hpp"

namespace echoform::soak {

void sender_killed_in_mid_frame(const FaultContext& context);
void sender_reset_in_mid_frame(const FaultContext& context);
void truncated_message(const FaultContext& context);
void sender_stalls_in_mid_message(const FaultContext& context);
void corrupt_shot(const FaultContext& context);
void sender_reconnects(const FaultContext& context);
void another_acquisition(const FaultContext& context);
void missing_shots(const FaultContext& context);
void duplicate_shots(const FaultContext& context);
void stale_shots(const FaultContext& context);
void reordered_shots(const FaultContext& context);
void sequence_gap(const FaultContext& context);
void sequence_restart(const FaultContext& context);
void sequence_wrap(const FaultContext& context);
void nan_samples(const FaultContext& context);
void saturated_samples(const FaultContext& context);
void burst(const FaultContext& context);

void second_sender(const FaultContext& context);
void garbage_connection(const FaultContext& context);
void corrupt_hello(const FaultContext& context);
void truncated_hello(const FaultContext& context);
void shot_before_hello(const FaultContext& context);
void connection_storm(const FaultContext& context);
void silent_connection(const FaultContext& context);
void trickling_hello(const FaultContext& context);

void half_open_http(const FaultContext& context);
void garbage_http(const FaultContext& context);
void oversized_http_header(const FaultContext& context);
void wrong_origin(const FaultContext& context);
void http_storm(const FaultContext& context);
void web_viewer_breaks_protocol(const FaultContext& context);
void subscriber_storm(const FaultContext& context);
void zeromq_garbage(const FaultContext& context);

void subscriptions_to_images(const FaultContext& context);
void subscriptions_to_telemetry(const FaultContext& context);
void requests_to_control(const FaultContext& context);
void control_parts_without_end(const FaultContext& context);
void silent_zeromq_connections(const FaultContext& context);
void pipelining_readers(const FaultContext& context);

void log_nobody_reads(const FaultContext& context);

void live_settings(const FaultContext& context);
void refused_settings(const FaultContext& context);
void recording_starts_and_stops(const FaultContext& context);

void recording_begins_on_a_full_disk(const FaultContext& context);
void disk_fills_while_recording(const FaultContext& context);
void configuration_cannot_be_read(const FaultContext& context);

}  // namespace echoform::soak
