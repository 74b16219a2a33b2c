package import Foundation
package import PushTypes

/// One environment of an app.
package struct AppEnvironment: Hashable, Sendable {
    package var app: Int64
    package var environment: PushEnvironment

    package init(app: Int64, environment: PushEnvironment) { (self.app, self.environment) = (app, environment) }
}

/// The pause of an app in an environment because of a fault.
package struct EnvironmentPause: Hashable, Sendable {
    package var target: AppEnvironment
    package var fault: ConfigurationFault
    /// The time of the pause by the wall clock.
    package var since: Timestamp
    /// The number of responses and failed connections that showed the fault before the pause.
    package var proofs: Int

    package init(_ target: AppEnvironment, _ fault: ConfigurationFault, since: Timestamp, proofs: Int) {
        (self.target, self.fault, self.since, self.proofs) = (target, fault, since, proofs)
    }
}

/// A request to pause an environment. It has no effect if the credential has changed since the fault was observed.
package struct EnvironmentPauseRequest: Hashable, Sendable {
    package var pause: EnvironmentPause
    /// The epoch of the credential with which the fault was observed (``StoredCredential/epoch``).
    package var epoch: Int64
    /// The event that reports the pause to webhooks, as one JSON value, or `nil` if no webhook subscribes to it.
    package var event: Data?
    /// A Boolean value that indicates whether only the stored fault of an existing pause is replaced.
    package var replacesFault = false

    package init(_ pause: EnvironmentPause, epoch: Int64, event: Data?) {
        (self.pause, self.epoch, self.event) = (pause, epoch, event)
    }
}

/// The environments whose pause delays the sending to a recipient or a shard, which is a part of an audience.
package enum HoldingEnvironments: Hashable, Sendable {
    case one(PushEnvironment)
    /// All environments for which the app has a credential. The sending waits while every one of them is paused.
    case all

    package var environments: [PushEnvironment] {
        switch self {
        case .one(let environment): [environment]
        case .all: PushEnvironment.allCases
        }
    }
}
