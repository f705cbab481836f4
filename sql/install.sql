-- Load order of functions, views and grants. Read by psql (run it from this
-- folder or the project's root) and by msgx migrate.

-- row types of functions
\ir views/r_flight_member.sql
\ir views/r_flight_state.sql
\ir views/r_flight_step.sql
\ir views/r_flight_change.sql
\ir views/r_flight_list.sql
\ir views/r_flight_effect.sql
\ir views/r_flight_document.sql
\ir views/r_flight_mismatch.sql
\ir views/r_pump_item.sql
\ir views/r_pump_round.sql
\ir views/r_inbox_round.sql
\ir views/r_outbox_schd.sql
\ir views/r_outbox_round.sql
\ir views/r_outbox_fault.sql
\ir views/r_backfill_claim.sql
\ir views/r_backfill_round.sql

-- settings, lease, loops
\ir setting/setting_text.sql
\ir setting/setting_interval.sql
\ir setting/setting_int.sql
\ir setting/operator_note.sql
\ir setting/sql_files.sql
\ir lease/clock.sql
\ir lease/lease_check.sql
\ir lease/lease_acquire.sql
\ir lease/lease_renew.sql
\ir lease/lease_release.sql
\ir lease/lease_evict.sql
\ir lease/clock_shift.sql
\ir loop/loop_round.sql
\ir loop/loop_pause.sql
\ir loop/loop_resume.sql

-- flight
\ir flight/operation_day.sql
\ir flight/flight_missing.sql
\ir flight/flight_vip_merge.sql
\ir flight/flight_fold_step.sql
\ir flight/flight_fold.sql
\ir flight/flight_list_names.sql
\ir flight/flight_list_array.sql
\ir flight/flight_members.sql
\ir flight/flight_state.sql
\ir flight/flight_same.sql
\ir flight/flight_log_state.sql
\ir flight/flight_diff.sql
\ir flight/flight_put_lists.sql
\ir flight/flight_put.sql
\ir outbox/outbox_raise.sql
\ir flight/flight_apply.sql
\ir flight/flight_stand_more.sql
\ir flight/flight_document.sql
\ir flight/flight_as_of.sql
\ir flight/flight_ids.sql
\ir flight/flight_verify.sql

-- inbox
\ir inbox/inbox_last_id.sql
\ir inbox/inbox_reconcile.sql
\ir inbox/inbox_suspect.sql
\ir inbox/inbox_advance.sql
\ir inbox/inbox_frontier.sql
\ir inbox/inbox_readable.sql
\ir inbox/inbox_seed.sql
\ir inbox/inbox_release_hole.sql
\ir inbox/inbox_accept_mailbox.sql

-- pump
\ir pump/identity_key.sql
\ir pump/pump_open.sql
\ir pump/pump_run.sql
\ir pump/pump_take_over.sql
\ir pump/pump_next.sql
\ir pump/pump_judge.sql
\ir pump/pump_apply.sql
\ir pump/pump_try.sql
\ir pump/pump_put_back.sql
\ir pump/pump_fail.sql

-- outbox
\ir outbox/outbox_settle.sql
\ir outbox/outbox_next_msg.sql
\ir outbox/outbox_next_schd.sql
\ir outbox/outbox_sent.sql
\ir outbox/outbox_failed.sql
\ir outbox/outbox_faults.sql
\ir outbox/outbox_requeue.sql

-- backfill
\ir backfill/backfill_claim.sql
\ir backfill/backfill_settle.sql
\ir backfill/backfill_resume.sql

-- views
\ir views/v_lease.sql
\ir views/v_head.sql
\ir views/v_holes.sql
\ir views/v_backlog.sql
\ir views/v_failed.sql
\ir views/v_dead_letters.sql
\ir views/v_backfill.sql
\ir views/v_outbox.sql
\ir views/v_late_arrivals.sql
\ir views/v_flight_board.sql
\ir views/v_flight_history.sql
\ir views/v_loops.sql
\ir views/v_status.sql

-- grants
\ir roles/grants.sql
