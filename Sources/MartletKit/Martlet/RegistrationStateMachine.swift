import Foundation

/// Decides which requests register an installation with the provider, and when.
///
/// There is one request at a time: the first response brings the secret that the next request needs. What changes while a
/// request is under way differs from what it confirms, and so is sent next: the newest state wins.
struct RegistrationStateMachine: Equatable, Sendable {
    /// The most tokens of Live Activities; the oldest is evicted, as it is at the provider.
    static let maximumActivities = 32
    /// The wait after a refusal of the whole request, which nothing on the device can mend.
    static let pause: TimeInterval = 24 * 3600
    /// The shortest time between two replacements of the installation.
    static let replacementInterval: TimeInterval = 3600
    /// The most bytes of shared members in a request, of the 16 KiB that the provider takes. The rest is sent next.
    static let maximumShared = 12_000
    /// The most attributes, so that the state stays within what a storage takes.
    static let maximumAttributes = 100
    /// The members that each request has, whether they have changed.
    private static let profile = ["locale", "timeZone", "appVersion", "capabilities"]

    var state: RegistrationState
    /// The time after which a confirmed registration is sent again.
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
        /// Remove the installation.
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

    /// Returns what to do now. A request is sent after ``started(_:)``.
    func next(now: Date) -> Next {
        guard let request = self.request(now: now) else { return .nothing }
        if let until = self.state.backOff.wait(now: now) { return .wait(until: until) }
        return .send(request)
    }

    /// Notes a request that is about to be sent: the provider may carry it out although no response comes.
    mutating func started(_ request: Request) {
        guard case .register(let registration) = request else { return }
        if registration.secret == nil { self.state.unanswered = registration.token }
        if registration.shared["userProof"]?.string != nil, self.state.user == .none { self.state.user = .proofSent }
    }

    private func request(now: Date) -> Request? {
        if self.state.isLeaving {
            if let secret = self.state.secret { return .remove(secret: secret) }
            // The first request may have been carried out: the same once more brings the secret for the removal.
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
        // A refresh repeats what only the app decides, in case the provider has lost it. Tags and attributes are the back
        // end's too, so that an old value must not come back.
        var candidates = changes
        for name in Self.profile + (stale == nil ? [] : ["preferences", "encryptionKey"]) {
            if let value = self.state.wanted[name], !self.isRefused(name, value, now: now) { candidates[name] = value }
        }
        let shared = self.first(candidates, changes: changes)
        return .register(Registration(place: place, token: token, secret: self.state.secret, shared: shared))
    }

    /// Returns the request for the user's own decisions when the app has no token that can be sent: the last that the provider
    /// has confirmed carries them.
    private func requestWithoutToken(_ changes: [String: JSONValue]) -> Request? {
        let decisions = changes.filter { ["userProof", "preferences"].contains($0.key) }
        guard !decisions.isEmpty, let secret = self.state.secret, let token = self.state.registered else { return nil }
        let shared = self.first(decisions, changes: decisions)
        return .register(Registration(place: token.place, token: token, secret: secret, shared: shared))
    }

    /// Returns as many members as a request has room for: changes before what is repeated, so that each request gets on, and of
    /// them the user and the user's own decisions first.
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

    /// The bytes of a member in a request.
    static func size(_ name: String, _ value: JSONValue) -> Int {
        JSONValue.string(name).json.count + value.json.count + 2
    }

    /// Returns the shared members that the provider has not confirmed as they are.
    private func changes(now: Date) -> [String: JSONValue] {
        self.state.wanted.filter { name, value in
            self.state.confirmed[name] != value && !self.isRefused(name, value, now: now)
        }
    }

    private func isRefused(_ name: String, _ value: JSONValue, now: Date) -> Bool {
        guard let refused = self.state.refused[name], refused.value == value else { return false }
        return (-3600..<self.refreshInterval).contains(now.timeIntervalSince(refused.at))
    }

    /// `true` if everything that the app wants is confirmed.
    func isConfirmed(now: Date) -> Bool {
        self.request(now: now) == nil && !self.state.tokens.isEmpty
    }
}

// MARK: - Changes by the app

extension RegistrationStateMachine {
    /// Returns `true` for a token that a service can have made.
    static func isToken(_ token: Data, _ kind: TokenKind) -> Bool { (1...512).contains(token.count) && kind.isValid }

    /// Sets a token. Returns `false` for one that no service can have made.
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

    /// Forgets a token, which the provider then hears no more of.
    mutating func remove(_ kind: TokenKind) { self.state.tokens[kind.place] = nil }

    /// Sets a member that all tokens share.
    mutating func want(_ name: String, _ value: JSONValue) { self.state.wanted[name] = value }

    /// Sets or removes an attribute. Returns `false` if there are too many.
    mutating func setAttribute(_ name: String, to value: JSONValue) -> Bool {
        guard self.hasRoom(forAttribute: name) else { return false }
        self.want("attributes.\(name)", value)
        return true
    }

    /// Returns `true` if an attribute can be set.
    func hasRoom(forAttribute name: String) -> Bool {
        let names = self.state.wanted.keys.filter { $0.hasPrefix("attributes.") }
        return names.count < Self.maximumAttributes || names.contains("attributes.\(name)")
    }

    mutating func setReceiptPrivacy(_ privacy: ReceiptPrivacy) { self.state.receiptPrivacy = privacy }

    /// Notes that the app was launched: the network may be another one, and a waiting user is worth a try.
    mutating func launched() { self.state.backOff.launched() }

    /// Leaves the provider, and forgets everything but the profile of the device.
    mutating func leave() {
        // Without a request there is nothing to remove.
        self.state.isLeaving = self.state.secret != nil || self.state.unanswered != nil
        self.state.tokens = [:]
        self.state.registered = nil
        self.state.wanted = self.state.wanted.filter { Self.profile.contains($0.key) }
        self.forgetConfirmations()
    }

    /// Has the next request bring the secret anew.
    mutating func secretWasRefused() {
        for place in self.state.tokens.keys { self.state.tokens[place]?.confirmed = nil }
    }

    mutating func forgetConfirmations() {
        self.secretWasRefused()
        (self.state.confirmed, self.state.refused) = ([:], [:])
    }
}
