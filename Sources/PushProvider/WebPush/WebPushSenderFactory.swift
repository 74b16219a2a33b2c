package import PushStore
package import PushSupport
import PushTypes
import ServiceLifecycle

/// Creates the senders that apps use for browsers, and owns their connections.
package final class WebPushSenderFactory: Service {
    private let store: any WebPushStore
    private let pool: WebPushClientPool
    private let tokens = VAPIDTokenCache()
    private let addresses: AddressPolicy
    private let limits: WebPushLimits
    private let time: any TimeSource

    /// Creates a factory. `addresses` is the policy for the addresses of push services.
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

    /// Returns the senders of an app's notifications to browsers. They are the same for every environment.
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

    package func close() async { await self.pool.close() }
}

/// The limits on sending to browsers' push services.
package struct WebPushLimits: Hashable, Sendable {
    /// The maximum number of messages in flight from one app to one push service. Further ones wait. Default 64.
    package var inFlight = 64
    /// The maximum time for resolving a name and connecting, and again until a response. Then the attempt fails.
    /// Default 10 s.
    package var deadline: Duration = .seconds(10)
    /// The time after which no further message of a page is sent. The remaining messages become retries. Default 8 s.
    package var page: Duration = .seconds(8)
    /// The time after which the host of a push service is resolved again. Default 5 min.
    package var addressLifetime: Duration = .seconds(300)
    /// The maximum number of clients of push services, of all apps together. Unused clients make room for further ones.
    /// If none is unused, the messages become retries. Default 256.
    package var services = 256
    /// The maximum number of clients of one app, so that an app with many origins leaves some to others. Default 128.
    package var servicesOfApp = 128

    package init() {}
}
