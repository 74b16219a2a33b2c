package import Foundation
package import PushTypes

/// A level at which the use of a resource is bounded.
package enum BudgetLevel: String, CaseIterable, Hashable, Sendable {
    /// The level of all callers of all apps together.
    case whole
    /// The level of all callers of one app.
    case app
    /// The level of one caller of one app, such as a key, a person or an address.
    case caller
}

/// The account to which an amount of a resource is charged.
package struct BudgetCaller: Hashable, Sendable {
    /// The identity of a caller within an app.
    package enum Identity: Hashable, Sendable {
        /// An API key or a person, by its id.
        case principal(UUID)
        /// A client without a credential, by its network (`SocketAddress.network`).
        case network([UInt8])
        /// Any other caller that has a name, such as a server's host.
        case name(String)
        /// The app itself, if no single caller is known.
        case app

        /// The identity of the caller's site: the first 48 bits of an IPv6 network. Other identities stay unchanged.
        package var site: Identity {
            guard case .network(let bytes) = self, bytes.count == 8 else { return self }
            return .network(Array(bytes.prefix(6)))
        }
    }

    /// The app, or `nil` for requests that concern no single app. The app must exist: bundle ids that clients invent
    /// would fill the memory with accounts.
    package var app: Topic?
    package var identity: Identity
    /// The caller's own rate per second, with bursts of twice as much, which replaces the rate of the level `caller`.
    /// It is 0 for no limit, and `nil` for the level's rate.
    package var rate: Double?

    package init(app: Topic? = nil, _ identity: Identity = .app, rate: Double? = nil) {
        (self.app, self.identity, self.rate) = (app, identity, rate)
    }

    /// The account of the caller's site. It bounds a customer with many IPv6 networks, who could otherwise exhaust the
    /// budget of an app.
    package var site: BudgetCaller { BudgetCaller(app: self.app, self.identity.site, rate: self.rate) }
}

/// The bound on the use of a resource at one level. A request that would exceed it waits or is refused.
package enum BudgetBound: Hashable, Sendable {
    /// A bound on the amount in use at a time.
    case held(Int)
    /// A bound on the amount in use, as a multiple of the amount of the resource that is free (the dynamic threshold of
    /// shared buffers). A single account can use n / (n + 1) of the resource, in small amounts or a large one. However
    /// many accounts take all they can, some of the resource stays free for the next one.
    case timesFree(Int)
    /// A bound on the amount per second, and on the amount in one burst. Time replenishes it.
    case rate(perSecond: Double, burst: Double)
}

extension BudgetLimits.Levels<BudgetBound> {
    /// Returns the bound of a level for a caller, which may have a rate of its own.
    ///
    /// Callers without an app do not form an app: the bound of the level `app` does not apply to them.
    subscript(level: BudgetLevel, for caller: BudgetCaller) -> BudgetBound? {
        if level == .app, caller.app == nil { return nil }
        guard level == .caller, let own = caller.rate else { return self[level] }
        return .rate(perSecond: own, burst: 2 * own)
    }
}

/// The bounds of a budget. A level without a bound is limited only by the bounds of the levels above it.
package struct BudgetLimits: Hashable, Sendable {
    /// One value for each level, or `nil` for a level without one.
    package struct Levels<Value: Hashable & Sendable>: Hashable, Sendable {
        package var whole, app, caller: Value?

        package init(whole: Value? = nil, app: Value? = nil, caller: Value? = nil) {
            (self.whole, self.app, self.caller) = (whole, app, caller)
        }

        package subscript(level: BudgetLevel) -> Value? {
            switch level {
            case .whole: self.whole
            case .app: self.app
            case .caller: self.caller
            }
        }
    }

    package var bounds: Levels<BudgetBound>
    /// The maximum numbers of waiting requests, or `nil` if requests do not wait. An app without a waiting request may
    /// queue one even if the whole queue is full. A caller without a waiting request may queue one even if its app's
    /// queue is full, until the app has twice its maximum.
    package var waiting: Levels<Int>?
    /// The maximum time for which a request waits for an amount, or for which a debt lasts. A longer one is refused.
    package var patience: Duration

    package init(_ bounds: Levels<BudgetBound>, waiting: Levels<Int>? = nil, patience: Duration = .zero) {
        (self.bounds, self.waiting, self.patience) = (bounds, waiting, patience)
    }

    /// A Boolean value that indicates whether amounts are in use until they are released. It is `false` if all bounds
    /// are rates.
    package var holds: Bool {
        BudgetLevel.allCases.contains { level in
            switch self.bounds[level] {
            case .held, .timesFree: true
            case nil, .rate: false
            }
        }
    }
}
