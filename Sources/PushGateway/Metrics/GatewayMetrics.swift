import PushHTTP

/// The table of all names, in the order in which they are shown.
extension Metric {
    static let events = Metric(
        "martlet_gateway_events_total",
        "What happened to notifications and devices, by event and environment.",
        .counter
    )
    static let connections = Metric("martlet_gateway_connections", "Open connections of a door.")
    static let connectionsLimit = Metric("martlet_gateway_connections_limit", "Most open connections of a door.")
    static let unprovenConnections = Metric(
        "martlet_gateway_unproven_connections",
        "Open connections that have shown no valid credential, over all listeners."
    )
    static let unprovenConnectionsLimit = Metric(
        "martlet_gateway_unproven_connections_limit",
        "Most connections without a valid credential."
    )
    static let unprovenBytes = Metric("martlet_gateway_unproven_bytes", "What they hold together, in bytes.")
    static let unprovenBytesLimit = Metric("martlet_gateway_unproven_bytes_limit", "Most that they may hold together.")
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
        "What these messages take up, about."
    )
    static let unacknowledgedBytesLimit = Metric(
        "martlet_gateway_unacknowledged_bytes_limit",
        "Most bytes of them in an environment; pushes beyond that are answered 429."
    )
    static let storedMessages = Metric("martlet_gateway_stored_messages", "Messages that wait for their device.")
    static let subscriptions = Metric("martlet_gateway_subscriptions", "Channels followed, summed over all devices.")
    static let subscriptionsLimit = Metric("martlet_gateway_subscriptions_limit", "Most channels of one device.")
    static let channels = Metric("martlet_gateway_channels", "Broadcast channels.")
    static let feedback = Metric("martlet_gateway_feedback", "Tokens that wait for the feedback service to be read.")
    static let nonces = Metric("martlet_gateway_nonces", "Proofs of devices, remembered to refuse their repetition.")
    static let noncesLimit = Metric("martlet_gateway_nonces_limit", "Most proofs remembered.")
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
        "Events that were not kept because the disk was too slow.",
        .counter
    )
    static let eventWatchers = Metric("martlet_gateway_event_watchers", "Open event streams.")
    static let eventWatchersLimit = Metric("martlet_gateway_event_watchers_limit", "Most open event streams.")
    static let memory = Metric("process_resident_memory_bytes", "Memory of the process that is not swapped out.")
}
