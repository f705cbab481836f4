BEGIN;
SET client_min_messages = warning;
SELECT plan(22);
SELECT is((SELECT epoch FROM msgx.lease_acquire('a', '15 s', '{}', true)), 1::bigint, 'a holds the lease');
SELECT is((SELECT count(*) FROM msgx.operator_audit WHERE action = 'take-over'), 0::bigint, 'the first holder takes nothing over');
SELECT is((SELECT epoch FROM msgx.lease_acquire('a', '15 s', '{}', true, NULL)), 2::bigint, 'a fresh process of the same name takes over at once');
SELECT is((SELECT reason FROM msgx.operator_audit WHERE action = 'take-over'), 'a new process of the same name', '… and the take-over is written down');
SELECT is((SELECT detail ->> 'from' || ' ' || (detail ->> 'epoch') FROM msgx.operator_audit WHERE action = 'take-over'), 'a 1', '… from whom and which epoch');
SELECT is((SELECT count(*) FROM msgx.lease_acquire('a', '15 s', '{}', true, 1)), 0::bigint,
          'a process that lost the lease to one of the same name waits: two of a name do not take turns');
SELECT is((SELECT epoch FROM msgx.lease_acquire('a', '15 s', '{}', true, 2)), 3::bigint, 'the holder itself may take a new epoch');
SELECT is((SELECT count(*) FROM msgx.lease_acquire('b', '15 s', '{}', true, 1)), 0::bigint, 'a standby waits');
UPDATE msgx.instance_lease SET expires_at = clock_timestamp() + interval '29 s';
SELECT is((SELECT count(*) FROM msgx.lease_acquire('b', '15 s', '{}', true)), 0::bigint, 'an end within twice the ttl is believed');
UPDATE msgx.instance_lease SET expires_at = clock_timestamp() + interval '1 day';
SELECT is((SELECT epoch FROM msgx.lease_acquire('b', '15 s', '{}', true)), 4::bigint, 'an end far away is the work of a clock that was set back');
SELECT is((SELECT reason FROM msgx.operator_audit WHERE action = 'take-over' ORDER BY audit_id DESC LIMIT 1),
          'its end lay too far away: the clock was set back', '… and the audit says so');
UPDATE msgx.instance_lease SET expires_at = clock_timestamp() - interval '1 ms';
SELECT is((SELECT epoch FROM msgx.lease_acquire('c', '20 s', '{}', true, 1)), 5::bigint, 'a lease that ended goes to whoever comes');
SELECT is((SELECT reason FROM msgx.operator_audit WHERE action = 'take-over' ORDER BY audit_id DESC LIMIT 1), 'its lease had ended', '… and the audit says so');
SELECT is((SELECT ttl FROM msgx.instance_lease), interval '20 s', 'the ttl is kept with it');
SELECT ok((SELECT host_skew IS NULL FROM msgx.v_lease), 'no skew is known before a renewal');
SELECT ok((SELECT l.host_skew BETWEEN interval '59 s' AND interval '1 minute 1 s' FROM msgx.lease_renew(5, '15 s', clock_timestamp() + interval '1 minute') AS l),
          'a renewal shows the skew of the host');
SELECT ok((SELECT l.expires_at - l.ttl BETWEEN clock_timestamp() - interval '10 s' AND clock_timestamp() FROM msgx.lease_renew(5, '15 s', '2000-01-01') AS l),
          '… and the end is by this server''s clock, whatever the host says');
SELECT results_eq('SELECT holder, epoch, active FROM msgx.v_lease', $$VALUES ('c', 5::bigint, true)$$, 'v_lease tells who is active');
SELECT is((SELECT count(*) FROM msgx.lease_release(5)), 1::bigint, 'after a release');
SELECT results_eq('SELECT holder, active FROM msgx.v_lease', $$VALUES (NULL::text, false)$$, '… nobody is');
SELECT is((SELECT epoch FROM msgx.lease_acquire('d', '15 s', '{}', true, 9)), 6::bigint, '… and the next takes nothing over');
SELECT is((SELECT count(*) FROM msgx.operator_audit WHERE action = 'take-over'), 4::bigint, '… so the audit has no further line');
SELECT * FROM finish();
ROLLBACK;
