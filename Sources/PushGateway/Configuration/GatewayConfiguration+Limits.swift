package import PushHTTP
package import PushWire

extension GatewayConfiguration {
    /// The limits of a gateway, with their defaults.
    package struct Limits: Sendable {
        /// Open connections per listener; more are closed at once. Default 20,000.
        package var connections = 20_000
        /// The time from TCP accept to the end of the TLS handshake. Default 10 s.
        package var handshake: Duration = .seconds(10)
        /// The time from the first frame of a request to its last. Default 30 s.
        package var request: Duration = .seconds(30)
        /// The limits of unauthenticated connections, over all listeners together: bytes that they hold, their number,
        /// and their time. Default 8 MiB, 4,096, 60 s.
        package var unauthenticated = UnauthenticatedConnectionStateMachine.Limits()
        /// The time between two requests of a connection to the admin API. Default 60 s.
        package var adminIdle: Duration = .seconds(60)
        /// The time that requests to the admin API have after shutdown began. Default 2 s.
        package var adminDrain: Duration = .seconds(2)
        /// Messages that a device may leave unacknowledged; pushes beyond that are answered 429. Default 2,000.
        package var unacknowledged = 2000
        /// Events that are kept, of about 100 bytes each. Default 1,000,000.
        package var events = 1_000_000
        /// The age up to which events are kept, as in Apple's delivery log (reference 7.3). Default 7 days.
        package var eventAge: Duration = .seconds(7 * 86_400)
        /// The interval at which a device that is not in use is woken for held messages. Default 15 min.
        package var powerWindow: Duration = .seconds(15 * 60)
        /// Background notifications per hour, device and topic. Default `nil`: no limit.
        package var backgroundPerHour: Int?
        /// The limits of a device link.
        package var deviceLink = DeviceLinkServerStateMachine.Limits()

        package init() {}
    }
}
