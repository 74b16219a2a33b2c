package import Foundation
package import PushTypes

/// A level at which a budget is bounded.
package enum BudgetLevel: String, CaseIterable, Hashable, Sendable {
    /// All callers together.
    case whole
    /// All callers of one app.
    case app
    /// One caller of one app: a key, a person, an address.
    case caller
}

/// The one on whose account a resource is taken.
package struct BudgetCaller: Hashable, Sendable {
    /// The identity of a caller within its app.
    package enum Identity: Hashable, Sendable {
        /// An API key or a person, by its id.
        case principal(UUID)
        /// A client without a credential, by its network (`SocketAddress.network`).
        case network([UInt8])
        /// Anything else that has a name, such as a server's host.
        case name(String)
        /// The app itself.
        case app

        /// The identity of the site: 48 bits of IPv6 in place of a network's 64. Any other identity is its own.
        package var site: Identity {
            guard case .network(let bytes) = self, bytes.count == 8 else { return self }
            return .network(Array(bytes.prefix(6)))
        }
    }

    /// The app, which must exist: names that strangers make up would grow the accounts. `nil` for what concerns no single app.
    package var app: Topic?
    package var identity: Identity
    /// The rate per second of this caller in place of the level's, with twice as many at once; 0 for no limit, `nil` for the level's.
    package var rate: Double?

    package init(app: Topic? = nil, _ identity: Identity = .app, rate: Double? = nil) {
        (self.app, self.identity, self.rate) = (app, identity, rate)
    }

    /// The account of the site, for what one customer with many networks of IPv6 could take from all others of an app.
    package var site: BudgetCaller { BudgetCaller(app: self.app, self.identity.site, rate: self.rate) }
}

/// A bound of one level.
package enum BudgetBound: Hashable, Sendable {
    /// The maximum amount held at a time.
    case held(Int)
    /// No more while it holds this many times what is free of the whole (the dynamic threshold of shared buffers). Alone it gets
    /// n / (n + 1) of the whole, in small amounts or a large one, and however many take all they can, the next one finds something free.
    case timesFree(Int)
    /// The amount per second, and at once. What was taken comes back with time.
    case rate(perSecond: Double, burst: Double)
}

extension BudgetLimits.Levels<BudgetBound> {
    /// Returns the bound of a level for a caller, which may have a rate of its own.
    ///
    /// Callers without an app are not one app: the level of apps bounds none of them.
    subscript(level: BudgetLevel, for caller: BudgetCaller) -> BudgetBound? {
        if level == .app, caller.app == nil { return nil }
        guard level == .caller, let own = caller.rate else { return self[level] }
        return .rate(perSecond: own, burst: 2 * own)
    }
}

/// The bounds of a budget; a level without one is bounded by those above it.
package struct BudgetLimits: Hashable, Sendable {
    /// One value for each level.
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

    /// The bounds of the levels.
    package var bounds: Levels<BudgetBound>
    /// The maximum numbers of requests that wait; `nil` if none waits. An app that has none waiting finds a place besides. So do
    /// callers of an app that have none waiting, up to as many again as the app has.
    package var waiting: Levels<Int>?
    /// The longest wait.
    package var patience: Duration

    package init(
        _ bounds: Levels<BudgetBound>,
        waiting: Levels<Int>? = nil,
        patience: Duration = .zero
    ) {
        (self.bounds, self.waiting, self.patience) = (bounds, waiting, patience)
    }

    /// Indicates whether what is taken is held until it is given back: `false` for rates alone.
    package var holds: Bool {
        BudgetLevel.allCases.contains { level in
            switch self.bounds[level] {
            case .held, .timesFree: true
            case nil, .rate: false
            }
        }
    }
}
