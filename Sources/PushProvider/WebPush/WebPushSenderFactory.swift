import PushSender
package import PushStore
package import PushSupport
import PushTypes
import ServiceLifecycle

/// Makes the senders of apps to browsers, and keeps their connections.
package final class WebPushSenderFactory: Service {
    private let store: any WebPushStore
    private let pool: WebPushClientPool
    private let tokens = VAPIDTokenCache()
    private let addresses: AddressPolicy
    private let limits: WebPushLimits
    private let time: any TimeSource

    /// - Parameter addresses: The addresses that push services may have.
    package init(
        store: any WebPushStore,
        addresses: AddressPolicy = AddressPolicy(),
        resolver: any NameResolver,
        limits: WebPushLimits = WebPushLimits(),
        time: any TimeSource
    ) {
        self.pool = WebPushClientPool(addresses: addresses, resolver: resolver, limits: limits, time: time)
        (self.store, self.addresses, self.limits, self.time) = (store, addresses, limits, time)
    }

    /// Returns what an app's notifications to browsers are sent with: one sender, whatever the environment of a device.
    func senders(app: Int64) -> AppSenders {
        let sender = WebPushSender(
            app: app,
            store: self.store,
            pool: self.pool,
            tokens: self.tokens,
            addresses: self.addresses,
            limits: self.limits,
            time: self.time
        )
        var senders = AppSenders()
        for environment in PushEnvironment.allCases { senders.usable[environment] = sender }
        return senders
    }

    /// Waits for graceful shutdown or cancellation, then closes every connection.
    package func run() async throws {
        try? await gracefulShutdown()
        await self.close()
    }

    /// Closes the connections.
    package func close() async { await self.pool.close() }
}
