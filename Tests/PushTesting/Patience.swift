package import AsyncHTTPClient
package import NIOCore
package import ProviderAPI
package import PushDevice
package import PushGateway
import PushHTTP
package import PushProvider
package import PushSender
package import PushStore
package import PushSupport
import PushWire
package import Testing

// The time for which a test waits. It bounds a hang, and nothing else: on a machine whose cores are shared by other builds
// everything takes many times as long. A test sets a shorter limit only where it waits for the end of that limit.

extension TimeLimitTrait.Duration {
    /// The longest that a test may take.
    package static var patience: Self { .minutes(30) }
}

extension Duration {
    /// The longest that a test, or a part of the product in a test, waits for one response or event.
    package static var patience: Self { .seconds(20 * 60) }
}

extension TimeAmount {
    /// The same for what runs on an event loop.
    package static var patience: Self { TimeAmount(Duration.patience) }
}

extension HTTPClient.Configuration.Timeout {
    /// The limits of a client in a test.
    package static var patience: Self { Self(connect: .patience) }
}

extension PushServiceEndpoint {
    /// The same endpoint, to which a connection may take its time.
    package var patient: Self {
        var endpoint = self
        endpoint.connectTimeout = .patience
        return endpoint
    }
}

extension SenderConfiguration {
    /// The defaults, with deadlines that a busy machine keeps.
    package static var patient: Self {
        var configuration = Self()
        configuration.waitTimeout = .patience
        configuration.handshakeTimeout = .patience
        configuration.responseTimeout = .patience
        configuration.pingAfter = .patience
        configuration.idlePingAfter = .patience
        configuration.testTimeout = .patience
        return configuration
    }
}

extension DeviceConfiguration {
    /// Gives connections all the time that a busy machine needs.
    package mutating func bePatient() {
        self.connectTimeout = .patience
        self.keepAlive = .patience
    }
}

extension GatewayConfiguration.Limits {
    /// Gives clients all the time that a busy machine needs.
    package mutating func bePatient() {
        self.handshake = .patience
        self.request = .patience
        self.unauthenticated.deadline = .patience
        self.adminIdle = .patience
        self.deviceLink.connect = .patience
    }
}

extension BudgetLimits {
    /// The limits of the resources for which callers wait, for as long as a busy machine needs.
    package static var patient: [BudgetedResource: BudgetLimits] {
        let waiting = BudgetedResource.allCases.map { ($0, $0.row.limits) }.filter { $0.1.waiting != nil }
        return Dictionary(uniqueKeysWithValues: waiting).mapValues { limits in
            var limits = limits
            limits.patience = .patience
            return limits
        }
    }
}

extension Budget {
    /// Makes a budget with the limits of its resource, in which callers wait for as long as a busy machine needs.
    package static func patient(_ resource: BudgetedResource) -> Budget {
        Budget(resource, limits: BudgetLimits.patient[resource])
    }
}

extension QueryLimits {
    /// The defaults, with look-ups that may wait for as long as a busy machine needs.
    package static var patient: Self {
        var limits = Self()
        limits.lookup = .patience
        return limits
    }
}

extension WebhookLimits {
    /// The defaults, with receivers that may take as long as a busy machine needs.
    package static var patient: Self {
        var limits = Self()
        limits.deadline = .patience
        return limits
    }
}

extension WebPushLimits {
    /// The defaults, with push services that may take as long as a busy machine needs.
    package static var patient: Self {
        var limits = Self()
        (limits.deadline, limits.page) = (.patience, .patience)
        return limits
    }
}

extension ProviderConfiguration {
    /// Gives clients, queries and other servers all the time that a busy machine needs.
    package mutating func bePatient() {
        self.limits.request = .patience
        self.limits.outcome = .patience
        self.limits.query = .patience
        self.limits.queries.lookup = .patience
        self.limits.peer = .patience
        self.limits.unauthenticated.deadline = .patience
        self.limits.idle = .patience
        self.entitlement.deadline = .patience
        self.budgetLimits = BudgetLimits.patient
    }
}

extension GatewayEventClient {
    /// The same events, for whose responses there is time.
    package var patient: GatewayEventClient {
        var events = self
        events.deadline = .patience
        return events
    }
}

/// Runs a test that waits for the end of a limit. Everything else has to be in time for it, so that the limit doubles until
/// the machine is fast enough.
/// - Parameter isInTime: The test with a limit. Returns `false` if something else was too late.
package func withGrowingLimit(_ isInTime: (Duration) async throws -> Bool) async throws {
    var limit = Duration.milliseconds(250)
    while try await !isInTime(limit) {
        guard limit < .seconds(120) else {
            Issue.record("nothing is in time within \(limit)")
            return
        }
        limit *= 2
    }
}
