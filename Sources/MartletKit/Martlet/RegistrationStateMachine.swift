import Foundation

/// A state machine that decides which requests register an installation with the provider, and when they are sent.
/// Requests are sent one at a time, because the first response contains the secret that the next request requires. A
/// value that changes while a request is in flight differs from the confirmed one, and is sent next.
struct RegistrationStateMachine: Equatable, Sendable {
    /// The maximum number of Live Activity tokens. A further one replaces the oldest, as it does at the provider.
    static let maximumActivities = 32
    /// The delay after the provider has refused a whole request, in seconds. It is long, because no change on the
    /// device can prevent another refusal.
    static let pause: TimeInterval = 24 * 3600
    /// The minimum time between two replacements of the installation's id, in seconds.
    private static let replacementInterval: TimeInterval = 3600
    /// The maximum size, in bytes, of the members in a request that all tokens share. The provider accepts requests of
    /// 16 KiB. The rest is sent in the next request.
    static let maximumShared = 12_000
    /// The maximum number of attributes, so that the state fits into one value of the storage. Further ones are
    /// refused.
    static let maximumAttributes = 100
    /// The members that every request repeats, even if they have not changed.
    private static let profile = ["locale", "timeZone", "appVersion", "capabilities"]

    private(set) var state: RegistrationState
    /// The time after which a confirmed registration is sent again, in seconds.
    let refreshInterval: TimeInterval

    init(_ state: RegistrationState, target: String, key: String, refreshInterval: TimeInterval) {
        self.state = state
        self.refreshInterval = refreshInterval
        if state.key != key {
            self.state.key = key
            self.state.backOff.succeeded()
        }
        if state.target != target {
            self.state.target = target
            (self.state.secret, self.state.unanswered, self.state.registered) = (nil, nil, nil)
            // The installation has nothing to remove from the new provider.
            self.state.isLeaving = false
            self.state.room = Self.maximumShared
            self.forgetConfirmations()
            self.state.backOff.succeeded()
        }
    }

    /// A request about the installation.
    enum Request: Equatable, Sendable {
        /// Register a token, with the members that all tokens share.
        case register(Registration)
        case remove(secret: String)
    }

    struct Registration: Equatable, Sendable {
        let place: String
        let token: RegistrationState.Token
        let secret: String?
        let shared: [String: JSONValue]
    }

    enum Next: Equatable, Sendable {
        case nothing
        case wait(until: Date)
        case send(Request)
    }

    /// Returns the next step: a request to send, the time at which the back-off ends, or nothing. Before the caller
    /// sends a request, it must call ``started(_:)``.
    func next(now: Date) -> Next {
        guard let request = self.request(now: now) else { return .nothing }
        if let until = self.state.backOff.wait(now: now) { return .wait(until: until) }
        return .send(request)
    }

    /// Records a request that is about to be sent, because the provider may perform it even if no response arrives.
    mutating func started(_ request: Request) {
        guard case .register(let registration) = request else { return }
        if registration.secret == nil { self.state.unanswered = registration.token }
        if registration.shared["userProof"]?.string != nil, self.state.user == .none { self.state.user = .proofSent }
    }

    private func request(now: Date) -> Request? {
        if self.state.isLeaving {
            if let secret = self.state.secret { return .remove(secret: secret) }
            // The first request may have been carried out: its repetition brings the secret for the removal.
            return self.state.unanswered.map { token in
                .register(Registration(place: token.place, token: token, secret: nil, shared: [:]))
            }
        }
        let places = self.state.tokens.keys.sorted { $0 == "alert" || ($1 != "alert" && $0 < $1) }
        let interval = self.refreshInterval
        let mayBeSent = places.filter { place in
            self.state.tokens[place].map { !$0.isFresh($0.refused, now: now, interval: interval) } ?? false
        }
        let stale = mayBeSent.first { place in
            self.state.tokens[place].map { !$0.isFresh($0.confirmed, now: now, interval: interval) } ?? false
        }
        let changes = self.changes(now: now)
        guard let place = stale ?? (changes.isEmpty ? nil : mayBeSent.first), let token = self.state.tokens[place]
        else { return self.requestWithoutToken(changes) }
        // A refresh repeats the values that only the app decides, in case the provider has lost them. Tags and
        // attributes may be set by the back end too, so an old value must not come back.
        var candidates = changes
        for name in Self.profile + (stale == nil ? [] : ["preferences", "encryptionKey"]) {
            if let value = self.state.wanted[name], !self.isRefused(name, value, now: now) { candidates[name] = value }
        }
        let shared = self.first(candidates, changes: changes)
        return .register(Registration(place: place, token: token, secret: self.state.secret, shared: shared))
    }

    /// Returns a request that sends the decisions of the user when no token of the app can be sent, or `nil` if there
    /// is nothing to send. It repeats the last token that the provider has confirmed.
    private func requestWithoutToken(_ changes: [String: JSONValue]) -> Request? {
        let decisions = changes.filter { ["userProof", "preferences"].contains($0.key) }
        guard !decisions.isEmpty, let secret = self.state.secret, let token = self.state.registered else { return nil }
        let shared = self.first(decisions, changes: decisions)
        return .register(Registration(place: token.place, token: token, secret: secret, shared: shared))
    }

    /// Returns as many members as fit into a request. Changed members precede repeated ones, so that each request makes
    /// progress. Among them, the user proof, the preferences and the encryption key precede other members.
    private func first(_ members: [String: JSONValue], changes: [String: JSONValue]) -> [String: JSONValue] {
        let ranks = ["userProof", "preferences", "encryptionKey"]
        func rank(_ name: String) -> Int {
            (ranks.firstIndex(of: name) ?? ranks.count) + (changes[name] == nil ? ranks.count + 1 : 0)
        }
        let order = members.sorted { (rank($0.key), $0.key) < (rank($1.key), $1.key) }
        var (taken, size): ([String: JSONValue], Int) = ([:], 0)
        for (name, value) in order {
            let bytes = Self.size(name, value)
            guard taken.isEmpty || size + bytes <= self.state.room else { continue }
            taken[name] = value
            size += bytes
        }
        return taken
    }

    private static func size(_ name: String, _ value: JSONValue) -> Int {
        JSONValue.string(name).json.count + value.json.count + 2
    }

    /// Returns the shared members whose present values the provider has neither confirmed nor refused.
    private func changes(now: Date) -> [String: JSONValue] {
        self.state.wanted.filter { name, value in
            self.state.confirmed[name] != value && !self.isRefused(name, value, now: now)
        }
    }

    private func isRefused(_ name: String, _ value: JSONValue, now: Date) -> Bool {
        guard let refused = self.state.refused[name], refused.value == value else { return false }
        return (-3600..<self.refreshInterval).contains(now.timeIntervalSince(refused.at))
    }

    /// Returns whether there is a token and nothing is left to be sent.
    func isConfirmed(now: Date) -> Bool { self.request(now: now) == nil && !self.state.tokens.isEmpty }
}

// MARK: - Changes by the app

extension RegistrationStateMachine {
    /// Returns whether the token and the name of its kind have permitted lengths.
    static func isToken(_ token: Data, _ kind: TokenKind) -> Bool { (1...512).contains(token.count) && kind.isValid }

    /// Sets the token of a kind, which replaces an earlier one. Returns `true` if it is valid, and `false` for a token
    /// of an invalid length or kind.
    mutating func register(_ token: Data, as kind: TokenKind, environment: PushEnvironment, now: Date) -> Bool {
        guard Self.isToken(token, kind) else { return false }
        let text = token.hexadecimal
        var entry =
            self.state.tokens[kind.place]
            ?? .init(text: text, environment: environment, kind: kind.name, activity: kind.activity, registeredAt: now)
        (entry.text, entry.environment, entry.registeredAt) = (text, environment, now)
        self.state.tokens[kind.place] = entry
        let activities = self.state.tokens.filter { $0.value.activity != nil }
        if activities.count > Self.maximumActivities,
            let oldest = activities.min(by: { ($0.value.registeredAt, $0.key) < ($1.value.registeredAt, $1.key) })
        {
            self.state.tokens[oldest.key] = nil
        }
        return true
    }

    mutating func remove(_ kind: TokenKind) { self.state.tokens[kind.place] = nil }

    mutating func want(_ name: String, _ value: JSONValue) { self.state.wanted[name] = value }

    /// Sets or removes an attribute. Returns `true` if it was changed, and `false` if it would exceed the maximum.
    mutating func setAttribute(_ name: String, to value: JSONValue) -> Bool {
        guard self.hasRoom(forAttribute: name) else { return false }
        self.want("attributes.\(name)", value)
        return true
    }

    /// Returns whether the attribute exists or the maximum number is not reached.
    func hasRoom(forAttribute name: String) -> Bool {
        let names = self.state.wanted.keys.filter { $0.hasPrefix("attributes.") }
        return names.count < Self.maximumAttributes || names.contains("attributes.\(name)")
    }

    mutating func setReceiptPrivacy(_ privacy: ReceiptPrivacy) { self.state.receiptPrivacy = privacy }

    /// Records a launch of the app, which ends the back-off unless the provider requested it or a retry cannot help.
    mutating func launched() { self.state.backOff.launched() }

    /// Requests the removal of the installation from the provider, and removes everything except the device profile
    /// from the state.
    mutating func leave() {
        // Without a request there is nothing to remove.
        self.state.isLeaving = self.state.secret != nil || self.state.unanswered != nil
        self.state.tokens = [:]
        self.state.registered = nil
        self.state.wanted = self.state.wanted.filter { Self.profile.contains($0.key) }
        self.forgetConfirmations()
    }

    /// Discards the confirmations of tokens, so that a token is registered again and the response contains the secret.
    mutating func secretWasRefused() {
        for place in self.state.tokens.keys { self.state.tokens[place]?.confirmed = nil }
    }

    private mutating func forgetConfirmations() {
        self.secretWasRefused()
        (self.state.confirmed, self.state.refused) = ([:], [:])
    }
}

extension RegistrationStateMachine {
    /// Processes the response to a request.
    /// - Parameters:
    ///   - random: A random number from 0 to 1.
    ///   - newInstallation: The new id of the installation, in case its id has to be replaced.
    /// - Returns: The events to report to the app.
    mutating func completed(
        _ request: Request,
        _ response: ProviderResult,
        now: Date,
        random: Double,
        newInstallation: UUID
    ) -> [Martlet.Event] {
        switch (request, response) {
        case (_, .later(let after, let reason)):
            if self.state.user == .proofSent { self.state.user = .attached }
            return [
                .retry(
                    .registration,
                    after: self.state.backOff.failed(after: after, now: now, random: random),
                    reason: reason
                )
            ]
        case (.remove, .done):
            self.finishLeaving()
            self.state.backOff.succeeded()
            return [.removed]
        case (.register(let registration), .done(let members)):
            guard let secret = members["secret"]?.string, secret.utf8.count <= 100 else {
                if self.state.user == .proofSent { self.state.user = .attached }
                let wait = self.state.backOff.failed(after: nil, now: now, random: random)
                return [.retry(.registration, after: wait, reason: "the response has no secret")]
            }
            let isLeaving = self.state.isLeaving
            self.confirm(registration, secret: secret, now: now)
            return isLeaving ? [] : [.registered(kind: TokenKind(rawValue: registration.token.place))]
        case (_, .refused(let refusal)) where self.state.isLeaving:
            return self.refuseLeaving(request, refusal, now: now, random: random)
        case (.remove, .refused(let refusal)):
            return [.refused(member: nil, code: refusal.code, message: refusal.message)]
        case (.register(let registration), .refused(let refusal)):
            if self.state.user == .proofSent { self.state.user = .none }
            if refusal.code == ProviderRefusal.notOwnInstallation {
                return self.replace(by: newInstallation, refusal, now: now)
            }
            if refusal.code == ProviderRefusal.tooLarge { return self.shrink(registration, refusal, now: now) }
            return self.refuse(registration, refusal, now: now)
        }
    }

    private mutating func finishLeaving() {
        (self.state.isLeaving, self.state.secret, self.state.unanswered) = (false, nil, nil)
        self.state.user = .none
    }

    /// Processes the refusal of a removal. It counts as complete if the provider refuses the secret or the token, and
    /// is retried otherwise.
    private mutating func refuseLeaving(
        _ request: Request,
        _ refusal: ProviderRefusal,
        now: Date,
        random: Double
    ) -> [Martlet.Event] {
        let event = Martlet.Event.refused(member: nil, code: refusal.code, message: refusal.message)
        var isRefusedToken = false
        if case .register = request { isRefusedToken = refusal.field != nil }
        // A token that the provider does not take was never registered.
        if refusal.code == ProviderRefusal.notOwnInstallation || isRefusedToken {
            self.finishLeaving()
            return [event]
        }
        let wait = self.state.backOff.failed(after: nil, now: now, random: random)
        return [event, .retry(.registration, after: wait, reason: "the installation is not removed yet")]
    }

    private mutating func confirm(_ registration: Registration, secret: String, now: Date) {
        self.state.secret = secret
        self.state.unanswered = nil
        self.state.backOff.succeeded()
        // The app has unregistered meanwhile: only the secret counts, which the removal needs.
        guard !self.state.isLeaving else { return }
        self.state.room = min(Self.maximumShared, self.state.room * 2)
        let token = registration.token
        self.state.registered = token
        let confirmed = RegistrationState.Token.Confirmed(text: token.text, environment: token.environment, at: now)
        self.state.tokens[registration.place]?.confirmed = confirmed
        if let refused = self.state.tokens[registration.place]?.refused, refused.text == token.text {
            self.state.tokens[registration.place]?.refused = nil
        }
        for (name, value) in registration.shared {
            self.state.refused[name] = nil
            if name == "userProof" {
                self.state.user = value == .null ? .none : .attached
                // A proof is used once. A newer one that the app has set since is still to be sent.
                if self.state.wanted[name] == value { self.state.wanted[name] = nil }
            } else if name.hasPrefix("attributes."), value == .null, self.state.wanted[name] == value {
                // A removed attribute needs no entry.
                (self.state.wanted[name], self.state.confirmed[name]) = (nil, nil)
            } else {
                self.state.confirmed[name] = value
            }
        }
    }

    /// Excludes refused members from requests until they change, so that the rest can be registered. Returns the events
    /// to report.
    private mutating func refuse(_ registration: Registration, _ refusal: ProviderRefusal, now: Date) -> [Martlet.Event]
    {
        let root = refusal.field.map { String($0.prefix { $0 != "." && $0 != "[" }) }
        let names = registration.shared.keys.filter { name in
            name == refusal.field || name == root || (refusal.field == "attributes" && name.hasPrefix("attributes."))
        }
        if !names.isEmpty { return self.refuse(names, of: registration, refusal, now: now) }
        if let root, ["token", "kind", "environment", "activity"].contains(root) {
            let token = registration.token
            if self.state.registered?.text == token.text { self.state.registered = nil }
            if self.state.tokens[registration.place]?.text == token.text {
                self.state.tokens[registration.place]?.refused =
                    .init(text: token.text, environment: token.environment, at: now)
            }
        } else {
            self.state.backOff.pause(for: Self.pause, now: now)
        }
        return [.refused(member: refusal.field, code: refusal.code, message: refusal.message)]
    }

    private mutating func refuse(
        _ names: [String],
        of registration: Registration,
        _ refusal: ProviderRefusal,
        now: Date
    ) -> [Martlet.Event] {
        var event = Martlet.Event.refused(member: refusal.field, code: refusal.code, message: refusal.message)
        for name in names {
            guard let value = registration.shared[name] else { continue }
            guard name == "userProof" else {
                self.state.refused[name] = .init(value: value, at: now)
                continue
            }
            // The previous user must not stay attached: the phone may be in other hands.
            if self.state.wanted[name] == value { self.state.wanted[name] = self.state.user == .none ? nil : .null }
            event = .userProofNeeded(installation: self.state.installation, reason: refusal.message)
        }
        return [event]
    }

    /// Reduces the size of the next request. A single member that is too large is treated as refused. Returns the
    /// events to report.
    private mutating func shrink(_ registration: Registration, _ refusal: ProviderRefusal, now: Date) -> [Martlet.Event]
    {
        guard registration.shared.count > 1 else {
            guard !registration.shared.isEmpty else { return self.refuse(registration, refusal, now: now) }
            return self.refuse(Array(registration.shared.keys), of: registration, refusal, now: now)
        }
        self.state.room = registration.shared.reduce(0) { $0 + Self.size($1.key, $1.value) } / 2
        return []
    }

    /// Replaces the installation's id, because the provider has another secret for the present id. Returns the events
    /// to report.
    private mutating func replace(by installation: UUID, _ refusal: ProviderRefusal, now: Date) -> [Martlet.Event] {
        if let last = self.state.replacedAt, abs(now.timeIntervalSince(last)) < Self.replacementInterval {
            self.state.backOff.pause(for: Self.pause, now: now)
            return [.refused(member: nil, code: refusal.code, message: refusal.message)]
        }
        self.state.replacedAt = now
        self.state.installation = installation
        (self.state.secret, self.state.unanswered, self.state.registered) = (nil, nil, nil)
        // A proof may be for the old installation. The provider may keep the user of a token that it knows.
        if self.state.wanted["userProof"] != .null {
            self.state.wanted["userProof"] = self.state.user == .none ? nil : .null
        }
        self.forgetConfirmations()
        return [.userProofNeeded(installation: installation, reason: "the installation has a new id")]
    }
}
