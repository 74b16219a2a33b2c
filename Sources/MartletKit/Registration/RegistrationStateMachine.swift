import Foundation

/// Decides which requests register an installation with the provider, and when.
///
/// There is one request at a time: the first response brings the secret that the next request needs. What changes while a
/// request is under way differs from what it confirms, and so is sent next: the newest state wins.
struct RegistrationStateMachine: Equatable, Sendable {
    /// The most tokens of Live Activities; the oldest gives way, as it does at the provider.
    static let maximumActivities = 32
    /// The wait after a refusal of the whole request, which nothing on the device can mend.
    static let pause: TimeInterval = 24 * 3600
    /// The shortest time between two replacements of the installation.
    private static let replacementInterval: TimeInterval = 3600
    /// The most bytes of shared members in a request, of the 16 KiB that the provider takes. The rest is sent next.
    private static let maximumShared = 12_000
    /// The members that each request has, whether they have changed.
    private static let profile = ["locale", "timeZone", "appVersion", "capabilities"]

    private(set) var state: RegistrationState
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
            self.state.secret = nil
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

    /// Returns what to do now.
    mutating func next(now: Date) -> Next {
        guard let request = self.request(now: now) else { return .nothing }
        if let until = self.state.backOff.wait(now: now) { return .wait(until: until) }
        return .send(request)
    }

    private mutating func request(now: Date) -> Request? {
        if self.state.isLeaving {
            if let secret = self.state.secret { return .remove(secret: secret) }
            self.state.isLeaving = false
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
        else { return nil }
        var shared = Self.first(changes)
        // A refresh repeats what only the app decides, in case the provider has lost it. Tags and attributes are the back
        // end's too, so that an old value must not come back.
        for name in Self.profile + (stale == nil ? [] : ["preferences", "encryptionKey"]) {
            if let value = self.state.wanted[name], !self.isRefused(name, value, now: now) { shared[name] = value }
        }
        return .register(Registration(place: place, token: token, secret: self.state.secret, shared: shared))
    }

    /// Returns as many changes as a request has room for: the user and the user's own decisions first.
    private static func first(_ changes: [String: JSONValue]) -> [String: JSONValue] {
        func rank(_ name: String) -> Int { ["userProof", "preferences"].firstIndex(of: name) ?? 2 }
        let order = changes.sorted { (rank($0.key), $0.key) < (rank($1.key), $1.key) }
        var (taken, size): ([String: JSONValue], Int) = ([:], 0)
        for (name, value) in order {
            let bytes = name.utf8.count + value.json.count
            guard taken.isEmpty || size + bytes <= Self.maximumShared else { continue }
            taken[name] = value
            size += bytes
        }
        return taken
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
        var copy = self
        return copy.request(now: now) == nil && !self.state.tokens.isEmpty
    }
}

// MARK: - Changes by the app

extension RegistrationStateMachine {
    /// Sets a token. Returns `false` for one that no service can have made.
    mutating func register(_ token: Data, as kind: TokenKind, environment: PushEnvironment, now: Date) -> Bool {
        guard (1...512).contains(token.count), (kind.activity.map { (1...255).contains($0.utf8.count) } ?? true) else {
            return false
        }
        let text = token.map { byte in
            let digits = String(byte, radix: 16)
            return byte < 16 ? "0" + digits : digits
        }.joined()
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

    mutating func setReceiptPrivacy(_ privacy: ReceiptPrivacy) { self.state.receiptPrivacy = privacy }

    /// Notes that the app was launched: the network may be another one, and a waiting user is worth a try.
    mutating func launched() { self.state.backOff.launched() }

    /// Leaves the provider, and forgets everything but the profile of the device.
    mutating func leave() {
        self.state.isLeaving = true
        self.state.tokens = [:]
        self.state.wanted = self.state.wanted.filter { Self.profile.contains($0.key) }
        self.forgetConfirmations()
    }

    /// Has the next request bring the secret anew.
    mutating func secretWasRefused() {
        for place in self.state.tokens.keys { self.state.tokens[place]?.confirmed = nil }
    }

    private mutating func forgetConfirmations() {
        self.secretWasRefused()
        (self.state.confirmed, self.state.refused) = ([:], [:])
    }
}

// MARK: - Responses

extension RegistrationStateMachine {
    /// Takes what came of a request.
    /// - Parameters:
    ///   - random: A number from 0 to 1.
    ///   - newInstallation: The id that the installation gets if it has to be replaced.
    /// - Returns: What the app should hear of.
    mutating func completed(
        _ request: Request,
        _ response: ProviderResponse,
        now: Date,
        random: Double,
        newInstallation: UUID
    ) -> [Martlet.Event] {
        switch (request, response) {
        case (_, .later(let after, let why)):
            return [.retry(after: self.state.backOff.failed(after: after, now: now, random: random), why: why)]
        case (.remove, .done):
            (self.state.isLeaving, self.state.secret) = (false, nil)
            self.state.backOff.succeeded()
            return [.removed]
        case (.remove, .refused(let refusal)):
            (self.state.isLeaving, self.state.secret) = (false, nil)
            return [.refused(member: nil, code: refusal.code, message: refusal.message)]
        case (.register(let registration), .done(let members)):
            guard let secret = members["secret"]?.string, secret.utf8.count <= 100 else {
                let wait = self.state.backOff.failed(after: nil, now: now, random: random)
                return [.retry(after: wait, why: "the response has no secret")]
            }
            self.confirm(registration, secret: secret, now: now)
            return [.registered(kind: registration.token.kind)]
        case (.register(let registration), .refused(let refusal)):
            if refusal.code == ProviderRefusal.notOwnInstallation {
                return self.replace(by: newInstallation, refusal, now: now)
            }
            return self.refuse(registration, refusal, now: now)
        }
    }

    private mutating func confirm(_ registration: Registration, secret: String, now: Date) {
        self.state.secret = secret
        self.state.backOff.succeeded()
        // The app has left meanwhile: the secret is for its removal, and nothing else counts.
        guard !self.state.isLeaving else { return }
        let token = registration.token
        self.state.tokens[registration.place]?.confirmed =
            .init(text: token.text, environment: token.environment, at: now)
        self.state.tokens[registration.place]?.refused = nil
        for (name, value) in registration.shared {
            self.state.refused[name] = nil
            if name == "userProof" {
                // A proof is good once; what the app has said since stays to be sent.
                if self.state.wanted[name] == value { self.state.wanted[name] = nil }
            } else if name.hasPrefix("attributes."), value == .null, self.state.wanted[name] == value {
                // A removed attribute needs no entry.
                (self.state.wanted[name], self.state.confirmed[name]) = (nil, nil)
            } else {
                self.state.confirmed[name] = value
            }
        }
    }

    /// Takes what the provider refuses out of the requests until it changes, so that the rest is registered.
    private mutating func refuse(_ registration: Registration, _ refusal: ProviderRefusal, now: Date) -> [Martlet.Event]
    {
        var event = Martlet.Event.refused(member: refusal.field, code: refusal.code, message: refusal.message)
        let root = refusal.field.map { String($0.prefix { $0 != "." && $0 != "[" }) }
        let names = registration.shared.keys.filter { name in
            name == refusal.field || name == root || (refusal.field == "attributes" && name.hasPrefix("attributes."))
        }
        if !names.isEmpty {
            for name in names {
                guard let value = registration.shared[name] else { continue }
                if name == "userProof" {
                    if self.state.wanted[name] == value { self.state.wanted[name] = nil }
                    event = .userProofNeeded(installation: self.state.installation, why: refusal.message)
                } else {
                    self.state.refused[name] = .init(value: value, at: now)
                }
            }
        } else if let root, ["token", "kind", "environment", "activity"].contains(root) {
            let token = registration.token
            self.state.tokens[registration.place]?.refused =
                .init(text: token.text, environment: token.environment, at: now)
        } else {
            self.state.backOff.pause(for: Self.pause, now: now)
        }
        return [event]
    }

    /// Continues as a new installation: the provider knows this one with another token, and the secret is not known here.
    private mutating func replace(
        by installation: UUID,
        _ refusal: ProviderRefusal,
        now: Date
    ) -> [Martlet.Event] {
        if let last = self.state.replacedAt, abs(now.timeIntervalSince(last)) < Self.replacementInterval {
            self.state.backOff.pause(for: Self.pause, now: now)
            return [.refused(member: nil, code: refusal.code, message: refusal.message)]
        }
        self.state.replacedAt = now
        self.state.installation = installation
        self.state.secret = nil
        // A proof may be for the old installation.
        if self.state.wanted["userProof"] != .null { self.state.wanted["userProof"] = nil }
        self.forgetConfirmations()
        return [.userProofNeeded(installation: installation, why: "the installation has a new id")]
    }
}
