/// The limits of sending to browsers' push services.
package struct WebPushLimits: Hashable, Sendable {
    /// The most messages of an app that are in flight to one push service. Default 64.
    package var inFlight = 64
    /// The most time to resolve a name and to connect, and again until a response. Default 10 s.
    package var deadline: Duration = .seconds(10)
    /// The time after which no message of a page is sent any more: the rest waits for its retry. Default 8 s.
    package var page: Duration = .seconds(8)
    /// The time for which the address of a push service counts. Default 5 min.
    package var addressLifetime: Duration = .seconds(300)
    /// The most push services of all apps with connections. Default 256.
    package var services = 256
    /// The most push services of one app with connections, so that an app with many origins leaves room to others.
    /// Default 128.
    package var servicesOfApp = 128

    package init() {}
}
