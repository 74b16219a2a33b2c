import PushSupport

/// Reads a gateway's events for one request of the API.
///
/// All reads share one deadline: a silent gateway delays a response once, and not once for each of its timelines.
struct GatewayEventReader {
    private let gateway: GatewayEventClient?
    /// The time that is left.
    private var rest: Duration
    /// The cause for which the gateway is not asked again.
    private var failure: String?

    /// - Parameter gateway: The gateway; `nil` where none is configured.
    init(of gateway: GatewayEventClient?) {
        self.gateway = gateway
        self.rest = gateway?.deadline ?? .zero
    }

    /// Returns the events of a push. It never throws, as a silent gateway must not hide what is known.
    mutating func reading(of apnsID: String) async -> GatewayFacts {
        guard let gateway else { return .off }
        if let failure { return .failed(failure) }
        let begin = ContinuousClock.now
        do {
            let events = try await gateway.events(apnsID: apnsID, within: self.rest)
            self.rest -= begin.duration(to: .now)
            return .events(events)
        } catch {
            self.failure = error.description
            return .failed(error.description)
        }
    }
}
