package import ProviderAPI

extension ChatSessionService {
    /// Makes the service of a provider.
    package convenience init(_ parts: ProviderParts) {
        self.init(
            store: parts.store,
            acceptor: parts.acceptor,
            addresses: parts.configuration.webhookAddresses,
            authorities: parts.configuration.chatAuthorities,
            metrics: parts.metrics,
            time: parts.time,
            logger: parts.logger
        )
    }
}
