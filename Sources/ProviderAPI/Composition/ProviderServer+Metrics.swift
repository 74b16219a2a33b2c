package import PushHTTP

extension ProviderServer {
    /// The help texts and buckets of the metrics that a provider reports.
    package static let metricDescriptions: [MetricDescription] = [
        .init("martlet_sender_outcomes_total", "Pushes by outcome, by push service and environment."),
        .init(
            "martlet_sender_response_seconds",
            "Time from a request to the push service to its response.",
            buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
        ),
        .init("martlet_sender_on_fallback_port", "1 while the push service is reached on its fallback port."),
        .init("martlet_sender_credential_expires", "Time at which a certificate in use ends, by its common name."),
        .init("martlet_configuration_faults_total", "Pushes that met a fault of the configuration, by its cause."),
        .init("martlet_deliveries_total", "Final states of recipients, by app, environment, state and reason."),
        .init("martlet_delivery_retries_total", "Tries that are followed by another, by app, environment and reason."),
        .init(
            "martlet_queue_start_seconds",
            "Time from when a notification could be sent to its first page, by lane.",
            buckets: ProviderServer.queueBuckets
        ),
        .init(
            "martlet_queue_retry_seconds",
            "Time from when retries were due to their page, by lane.",
            buckets: ProviderServer.queueBuckets
        ),
        .init("martlet_pages_fenced_total", "Pages that were sent under a lease that was lost."),
        .init("martlet_receipts_total", "Receipts, by app, event, source and result."),
        .init("martlet_downloads_total", "Downloads that ended, or were refused for their number, by result."),
        .init("martlet_download_bytes_total", "Bytes of downloads that connections have accepted."),
        .init("martlet_token_changes_total", "Changes of tokens, by app, environment, action and reason."),
        .init("martlet_feedback_runs_total", "Readings of feedback services, by app, environment and outcome."),
        .init("martlet_feedback_tokens_total", "Tokens of feedback lists, by app, environment and result."),
        .init("martlet_binary_bridge_notifications_total", "Notifications of old providers, by bridge and result."),
        .init("martlet_webhook_posts_total", "Posts to webhooks, by outcome."),
        .init("martlet_webhook_disabled_total", "Webhooks that were disabled after failures."),
        .init("martlet_xmpp_publishes_total", "Publishes of XMPP servers, by answer."),
        .init("martlet_xmpp_connections_total", "Connections to XMPP servers, by result."),
        .init("martlet_chat_pushes_total", "Pushes of messages of chat servers, by result."),
        .init("martlet_chat_sign_ins_total", "Sign-ins at chat servers, by protocol and result."),
        .init("martlet_api_requests_total", "Requests to the API, by operation and status."),
        .init("martlet_api_request_seconds", "Duration of requests to the API, by operation."),
        .init("martlet_api_throttled_total", "Requests that exceeded a limit or were given up, by code."),
        .init("martlet_store_write_failures_total", "Writes that the store could not make."),
        .init("martlet_store_wal_folds_total", "Checkpoints of the write-ahead log."),
        .init("martlet_store_wal_folds_unfinished_total", "Checkpoints that a reader prevented."),
    ]

    /// The buckets of waiting times: what is due may wait behind other work, or until the push service responds again.
    private static let queueBuckets: [Double] = [0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600]
}
