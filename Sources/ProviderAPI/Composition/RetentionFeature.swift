import ProviderModel
import PushHTTP
import PushProvider
import PushStore
import ServiceLifecycle

/// The feature that deletes records whose retention has expired, and erases users and apps.
struct RetentionFeature: ProviderFeature {
    let services: [any Service]
    let controllers: [any Controller<APIScope>]

    /// Creates the feature. `noteErasure` is the closure that is called when an erasure of a user or an app has begun.
    init(
        _ core: ProviderCore,
        _ sending: SendingComponents,
        webhooks: WebhookDelivery,
        files: FileCleaner,
        noteErasure: @escaping @Sendable () -> Void
    ) {
        let (store, time, logger) = (core.store, core.time, core.logger)
        let retention = RetentionService(
            store: store,
            settings: core.configuration.retention,
            files: files,
            time: time,
            logger: logger
        )
        self.services = [
            core.nodes.exclusive(retention, .retention),
            ErasureService(
                store: store,
                direct: sending.direct,
                settings: core.configuration.erasure,
                wake: core.erasureWake,
                time: time,
                logger: logger
            ),
        ]
        self.controllers = [
            ErasureController(
                store: store,
                faults: sending.faults,
                direct: sending.direct,
                wake: core.erasureWake,
                patience: core.configuration.limits.outcome,
                interrupt: { await webhooks.interrupt($0) },
                noteErasure: noteErasure,
                time: time
            )
        ]
    }
}
