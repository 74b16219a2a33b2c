/// A resource that callers compete for. Each has a ``Budget``, and a row in the table of `docs/security.md`, which is
/// generated from this type.
package enum BudgetedResource: String, CaseIterable, Hashable, Sendable {
    // The API.
    case newConnections
    case strangerConnections
    case connections
    case requests
    case publicRequests
    case forms
    case bridgeRequests
    case longBodies
    case bodyBytes
    case responseBytes
    case longLists
    case queries
    case queryAttempts
    case exports
    case counts
    case hashes
    case strangerHashes
    case livePages
    case credentialTests
    case receipts
    // Publishing.
    case downloads
    case uploads
    case uploadedBytes
    case entitlementQuestions
    // Neighbours.
    case matrixRequests
    case matrixBytes
    case matrixPushes
    case pushMessages
    case resourceMessages
    case addressMessages
    case unknownTargets
    case wrongSecrets
    case unknownTokens
    case forwards
    case hostForwards
    case clientHostForwards
    case followedOutcomes
    case bridgeConnections
    case componentRegistrations
    case chatPushes
    case chatConnections
    case chatSignIns
    // Outgoing requests.
    case nameLookups
    case newNameLookups
    case webhookPosts
    case webhookRetries
    // Logging.
    case logLines
}

/// A row of the table of resources: the default limits and the words of a refusal.
package struct BudgetedResourceRow: Sendable {
    /// The plural noun for the resource in the message of a refusal, such as *open downloads*.
    package var noun: String
    /// The noun for a caller in the message of a refusal, such as *API key* or *address*.
    package var caller: String
    package var limits = BudgetLimits(.init())
    /// The setting that changes a bound, such as `serve.keyRate`, or `nil` if no setting does.
    package var setting: String?
    package var kind: RequestError.Kind
    /// The error code of a refusal, such as `too_many_requests`.
    package var code: String
    /// The advice to the caller at the end of a refusal's message.
    package var remedy = "try again in a few seconds"
    /// The time after which a refused caller may retry. For a rate, the rate determines this time instead.
    package var delay: Duration = .seconds(1)
    /// The consequence of a refusal, as the table describes it, or `nil` if a refusal is an error response.
    package var outcome: String?

    /// Creates a row without bounds, which the other methods add.
    /// - Parameters:
    ///   - noun: The plural noun for the resource.
    ///   - caller: The noun for a caller.
    ///   - code: The error code of a refusal.
    init(_ noun: String, of caller: String, _ code: String, _ kind: RequestError.Kind = .rateLimited) {
        (self.noun, self.caller, self.kind, self.code) = (noun, caller, kind, code)
    }

    func bounded(whole: BudgetBound? = nil, app: BudgetBound? = nil, caller: BudgetBound? = nil) -> Self {
        self.with { $0.limits.bounds = .init(whole: whole, app: app, caller: caller) }
    }

    /// Lets requests wait, for at most `patience`. `nil` sets no maximum for the waiting requests of a level.
    func waiting(whole: Int? = nil, app: Int? = nil, caller: Int? = nil, for patience: Duration) -> Self {
        self.with { $0.limits.waiting = .init(whole: whole, app: app, caller: caller) }.patience(patience)
    }

    func patience(_ patience: Duration) -> Self { self.with { $0.limits.patience = patience } }
    func set(by setting: String) -> Self { self.with { $0.setting = setting } }
    func remedy(_ remedy: String) -> Self { self.with { $0.remedy = remedy } }
    func retry(after delay: Duration) -> Self { self.with { $0.delay = delay } }
    func outcome(_ outcome: String) -> Self { self.with { $0.outcome = outcome } }

    private func with(_ change: (inout Self) -> Void) -> Self {
        var row = self
        change(&row)
        return row
    }

    /// Returns the message of a refusal at a level: what the caller has in use, and ``remedy``.
    package func refusal(_ level: BudgetLevel, _ bound: BudgetBound?) -> String {
        let holder =
            switch level {
            case .whole: "the provider"
            case .app: "this app"
            case .caller: "this \(self.caller)"
            }
        switch bound {
        case .held(1): return "\(holder) has one of the \(self.noun) at a time: \(self.remedy)"
        case .held(let most): return "\(holder) has \(most) \(self.noun), the most at a time: \(self.remedy)"
        case .rate(let rate, _):
            let amount = rate < 1 ? "\(Int(60 * rate)) \(self.noun) a minute" : "\(Int(rate)) \(self.noun) a second"
            return "\(holder) has \(amount): \(self.remedy)"
        case .timesFree, nil: return "\(holder) has its share of the \(self.noun) now: \(self.remedy)"
        }
    }
}
