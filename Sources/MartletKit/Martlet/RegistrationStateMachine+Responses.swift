import Foundation

extension RegistrationStateMachine {
    /// Takes what came of a request.
    /// - Parameters:
    ///   - random: A number from 0 to 1.
    ///   - newInstallation: The id that the installation gets if it has to be replaced.
    /// - Returns: What the app should hear of.
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

    /// Ends the removal if the provider says that the installation is not this one's; everything else may pass.
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
        // The app has left meanwhile: the secret is for its removal, and nothing else counts.
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
            // The user before must not stay attached: that one has gone, and another holds the phone.
            if self.state.wanted[name] == value { self.state.wanted[name] = self.state.user == .none ? nil : .null }
            event = .userProofNeeded(installation: self.state.installation, reason: refusal.message)
        }
        return [event]
    }

    /// Makes the next request smaller; a member that is too large alone is refused.
    private mutating func shrink(_ registration: Registration, _ refusal: ProviderRefusal, now: Date) -> [Martlet.Event]
    {
        guard registration.shared.count > 1 else {
            guard !registration.shared.isEmpty else { return self.refuse(registration, refusal, now: now) }
            return self.refuse(Array(registration.shared.keys), of: registration, refusal, now: now)
        }
        self.state.room = registration.shared.reduce(0) { $0 + Self.size($1.key, $1.value) } / 2
        return []
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
        (self.state.secret, self.state.unanswered, self.state.registered) = (nil, nil, nil)
        // A proof may be for the old installation. The provider may keep the user of a token that it knows.
        if self.state.wanted["userProof"] != .null {
            self.state.wanted["userProof"] = self.state.user == .none ? nil : .null
        }
        self.forgetConfirmations()
        return [.userProofNeeded(installation: installation, reason: "the installation has a new id")]
    }
}
