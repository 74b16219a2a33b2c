package import ProviderAPI

extension ChatSessionService {
    /// Makes the service of a provider.
    package convenience init(_ parts: ProviderComponents) {
        var limits = Limits()
        limits.connect = parts.configuration.limits.peer
        self.init(
            store: parts.store,
            acceptor: parts.acceptor,
            budgets: parts.budgets,
            addresses: parts.configuration.webhookAddresses,
            authorities: parts.configuration.chatAuthorities,
            limits: limits,
            resolver: parts.resolver,
            metrics: parts.metrics,
            time: parts.time,
            logger: parts.logger
        )
    }
}
