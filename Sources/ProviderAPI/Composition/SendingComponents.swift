import PushProvider
import PushSender
import PushStore
import PushSupport

/// The components that take a notification from its acceptance to a push service, which most features use or stop.
struct SendingComponents: Sendable {
    let source: any SenderSource
    let directory: SenderDirectory
    /// The policy that decides about tokens.
    let invalidation: TokenInvalidationPolicy
    let faults: ConfigurationFaultTracker
    /// The way past the ledger for single pushes.
    let direct: DirectDispatch
    let acceptor: NotificationAcceptor

    init(_ core: ProviderCore, _ source: any SenderSource) {
        let (store, time, logger) = (core.store, core.time, core.logger)
        self.source = source
        self.directory = SenderDirectory(
            store: store,
            source: source,
            tokens: ProviderTokenCache(store: store, time: time, logger: logger),
            logger: logger
        )
        self.invalidation = TokenInvalidationPolicy(
            store: store,
            limits: core.configuration.breaker,
            logger: logger
        )
        self.faults = ConfigurationFaultTracker(
            store: store,
            directory: self.directory,
            source: source,
            wakes: core.wakes,
            webhookWake: core.webhookWake,
            time: time,
            logger: logger
        )
        self.direct = DirectDispatch(store: store, limits: core.configuration.dispatch, time: time)
        self.acceptor = NotificationAcceptor(
            store: store,
            wakes: core.wakes,
            // Counting the recipients takes a part of the time of a request.
            budget: core.configuration.limits.request / 6,
            direct: self.direct,
            time: time
        )
    }
}
