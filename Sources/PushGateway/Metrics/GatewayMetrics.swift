import PushHTTP

/// The metrics of the gateway.
extension Metric {
    static let events = Metric(
        "martlet_gateway_events_total",
        "Events of notifications and devices, by event and environment.",
        .counter
    )
    static let connections = Metric("martlet_gateway_connections", "Open connections of a listener.")
    static let connectionsLimit = Metric("martlet_gateway_connections_limit", "Most open connections of a listener.")
    static let unauthenticatedConnections = Metric(
        "martlet_gateway_unauthenticated_connections",
        "Open connections without a valid credential, over all listeners."
    )
    static let unauthenticatedConnectionsLimit = Metric(
        "martlet_gateway_unauthenticated_connections_limit",
        "Most connections without a valid credential."
    )
    static let unauthenticatedBytes = Metric(
        "martlet_gateway_unauthenticated_bytes",
        "Bytes that unauthenticated connections hold together."
    )
    static let unauthenticatedBytesLimit = Metric(
        "martlet_gateway_unauthenticated_bytes_limit",
        "Most bytes that unauthenticated connections may hold together."
    )
    static let devices = Metric("martlet_gateway_devices", "Devices that are activated and not deleted.")
    static let devicesOnline = Metric("martlet_gateway_devices_online", "Connected devices.")
    static let unacknowledged = Metric(
        "martlet_gateway_unacknowledged",
        "Messages sent to devices that have not acknowledged them."
    )
    static let unacknowledgedLimit = Metric(
        "martlet_gateway_unacknowledged_limit",
        "Most messages that one device may leave unacknowledged."
    )
    static let unacknowledgedBytes = Metric(
        "martlet_gateway_unacknowledged_bytes",
        "Bytes of the unacknowledged messages, about."
    )
    static let unacknowledgedBytesLimit = Metric(
        "martlet_gateway_unacknowledged_bytes_limit",
        "Most bytes of unacknowledged messages in an environment; pushes beyond that are answered 429."
    )
    static let storedMessages = Metric("martlet_gateway_stored_messages", "Messages that wait for their device.")
    static let subscriptions = Metric("martlet_gateway_subscriptions", "Channels followed, summed over all devices.")
    static let subscriptionsLimit = Metric("martlet_gateway_subscriptions_limit", "Most channels of one device.")
    static let channels = Metric("martlet_gateway_channels", "Broadcast channels.")
    static let feedback = Metric("martlet_gateway_feedback", "Tokens in the feedback lists that no provider has read.")
    static let nonces = Metric(
        "martlet_gateway_nonces",
        "Nonces of devices that are remembered to reject their repetition."
    )
    static let noncesLimit = Metric("martlet_gateway_nonces_limit", "Most nonces that are remembered.")
    static let tokenKeys = Metric("martlet_gateway_token_keys", "Keys that seal or have sealed device tokens.")
    static let tokenKeysLimit = Metric("martlet_gateway_token_keys_limit", "Most token keys.")
    static let commits = Metric("martlet_gateway_commits_total", "Transactions of grouped writes.", .counter)
    static let commitBacklog = Metric("martlet_gateway_commit_backlog", "Writes that wait for a transaction.")
    static let eventsStored = Metric("martlet_gateway_events_stored", "Events on disk.")
    static let eventsStoredLimit = Metric("martlet_gateway_events_stored_limit", "Most events on disk.")
    static let eventBacklog = Metric("martlet_gateway_event_backlog", "Events that are not on disk yet.")
    static let eventBacklogLimit = Metric(
        "martlet_gateway_event_backlog_limit",
        "Most events that wait for the disk; more are dropped."
    )
    static let eventsDropped = Metric(
        "martlet_gateway_events_dropped_total",
        "Events that were dropped because the disk was too slow.",
        .counter
    )
    static let eventWatchers = Metric("martlet_gateway_event_watchers", "Open event streams.")
    static let eventWatchersLimit = Metric("martlet_gateway_event_watchers_limit", "Most open event streams.")
    static let memory = Metric("process_resident_memory_bytes", "Memory of the process that is not swapped out.")
}
