import PushSupport
import PushTypes

/// What one provider connection has proved: by its certificate, or by the provider tokens of its requests (reference 2).
///
/// The first good token binds the connection to its team and to the kind of its key. What was proved once is not proved
/// again: a token seen before costs a comparison of bytes, of its age, and of one number of the directory.
struct ProviderConnection: Sendable {
    /// Tokens remembered. One is in use at a time, two with a related key.
    static let maximumTokens = 4

    private struct Proof: Sendable {
        /// The whole header field.
        var header: String
        var token: VerifiedProviderToken
        /// When it took the place of an earlier token of the same key.
        var changedAt: Timestamp?
        var grants = TopicGrantCache()
    }

    private let environment: PushEnvironment
    private let certificate: CertificateIdentity?
    /// Tokens that were no good, on all connections.
    private let refused: RejectedTokenCache
    private let source: SignatureCheckLimiter.Source
    private let sources: SignatureCheckLimiter
    /// Of this connection's own bad tokens.
    private var checks: SignatureCheckLimiter.Bucket?
    /// Too many tokens were checked that are no good: no request is looked at any more.
    private(set) var mustEnd = false
    private var isCertificateRevoked = false
    private var certificateGrants = TopicGrantCache()
    /// The last used is first.
    private var proofs: [Proof] = []
    /// The key of the first good token.
    private var firstKey: RegisteredKey?
    /// What the directory counted when all this was found out.
    private var changes: UInt64?

    /// - Parameters:
    ///   - certificate: what was shown in the TLS handshake and found good.
    ///   - source: where the connection comes from.
    init(
        environment: PushEnvironment,
        certificate: CertificateIdentity? = nil,
        refused: RejectedTokenCache = RejectedTokenCache(),
        source: SignatureCheckLimiter.Source = SignatureCheckLimiter.Source(nil),
        sources: SignatureCheckLimiter = SignatureCheckLimiter()
    ) {
        self.environment = environment
        self.certificate = certificate
        self.refused = refused
        self.source = source
        self.sources = sources
    }

    var hasCertificate: Bool { self.certificate != nil }

    /// The key id of the token that was used last, or the certificate's serial number.
    var credential: String? { self.certificate?.serial ?? self.proofs.first?.token.key.keyID }

    /// Why this request does not come from a provider that may push here; `nil` if it does.
    ///
    /// With a certificate, the `authorization` field is ignored (reference 1.5).
    mutating func authenticate(
        _ authorization: String?,
        directory: some TrustDirectory,
        rules: ProviderRules,
        now: Timestamp
    ) -> Reason? {
        let changes = directory.changes
        if self.changes != changes { self.forgetOutdated(directory, changes) }
        if let certificate {
            return self.isCertificateRevoked || now > certificate.expiresAt ? .badCertificate : nil
        }
        guard let authorization else { return .missingProviderToken }
        for index in self.proofs.indices where self.proofs[index].header == authorization {
            if index > 0 { self.proofs.swapAt(0, index) }
            return self.proofs[0].token.fault(at: now)
        }
        switch self.verified(authorization, directory: directory, rules: rules, now: now) {
        case .success(let proof): self.remember(proof)
        case .failure(let reason): return reason
        }
        return nil
    }

    private mutating func forgetOutdated(_ directory: some TrustDirectory, _ changes: UInt64) {
        self.changes = changes
        self.certificateGrants = TopicGrantCache()
        if let certificate { self.isCertificateRevoked = directory.isRevoked(certificate: certificate.serial) }
        self.proofs.removeAll { directory.key($0.token.key.keyID) != $0.token.key }
        for index in self.proofs.indices { self.proofs[index].grants = TopicGrantCache() }
    }

    private mutating func remember(_ proof: Proof) {
        if self.firstKey == nil { self.firstKey = proof.token.key }
        if self.proofs.count >= Self.maximumTokens { self.proofs.removeLast() }
        self.proofs.insert(proof, at: 0)
    }
}

// MARK: Tokens

extension ProviderConnection {
    /// In the order of reference 2.1: the token by itself, then what it may do on this connection.
    private mutating func verified(
        _ authorization: String,
        directory: some TrustDirectory,
        rules: ProviderRules,
        now: Timestamp
    ) -> Result<Proof, Reason> {
        self.checked(authorization, directory: directory, now: now).flatMap { token in
            if let reason = self.objection(to: token.key, rules) { return .failure(reason) }
            return self.change(to: token, rules, now).map { changedAt in
                Proof(header: authorization, token: token, changedAt: changedAt)
            }
        }
    }

    /// The token by itself. One that is known to be no good is not checked again.
    private mutating func checked(
        _ authorization: String,
        directory: some TrustDirectory,
        now: Timestamp
    ) -> Result<VerifiedProviderToken, Reason> {
        let changes = directory.changes
        if let fault = self.refused.outcome(of: authorization, changes: changes)?.fault(at: now) {
            return .failure(fault)
        }
        let words = authorization.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "bearer" else { return .failure(.invalidProviderToken) }
        let token = ProviderTokenVerifier.signed(String(words[1]), key: directory.key)
        let outcome = token.map { RejectedTokenCache.Outcome.signed($0) } ?? .invalid
        if let token, outcome.fault(at: now) == nil { return .success(token) }
        self.refused.remember(authorization, outcome, changes: changes)
        self.countFailedCheck(now: now)
        return .failure(outcome.fault(at: now) ?? .invalidProviderToken)
    }

    private mutating func countFailedCheck(now: Timestamp) {
        var checks = self.checks ?? SignatureCheckLimiter.ofConnection(now: now)
        let isWithin = checks.take(now: now) == nil
        self.checks = checks
        if !self.sources.take(self.source, now: now) || !isWithin { self.mustEnd = true }
    }

    private func objection(to key: RegisteredKey, _ rules: ProviderRules) -> Reason? {
        if let firstKey, firstKey.teamID != key.teamID { return .invalidProviderToken }
        guard key.serves(self.environment) else { return rules.wrongEnvironmentKey }
        if let firstKey, !key.isRelated(to: firstKey) { return .unrelatedKeyIdInToken }
        return nil
    }

    /// When the token of this key was changed: now, if there was one before; `nil` for a key's first token.
    private func change(
        to token: VerifiedProviderToken,
        _ rules: ProviderRules,
        _ now: Timestamp
    ) -> Result<Timestamp?, Reason> {
        let earlier = self.proofs.filter { $0.token.key.keyID == token.key.keyID }
        guard !earlier.isEmpty else { return .success(nil) }
        if let interval = rules.tokenUpdateInterval, let last = earlier.compactMap(\.changedAt).max(),
            now.since(last) < interval
        {
            return .failure(.tooManyProviderTokenUpdates)
        }
        return .success(now)
    }
}

// MARK: Topics

extension ProviderConnection {
    /// The topic that the provider, authenticated before, means and may push to.
    /// - Parameter text: `apns-topic`; without one, the certificate's topic if it has only that (reference 2.2).
    mutating func grant(_ text: String?, directory: some TrustDirectory) -> Result<TopicGrant, Reason> {
        let text = text ?? self.onlyTopic?.name ?? ""
        guard !text.isEmpty else { return .failure(.missingTopic) }
        let known =
            self.certificate != nil
            ? self.certificateGrants.find(text)
            : self.proofs.isEmpty ? nil : self.proofs[0].grants.find(text)
        if let known { return .success(known) }
        guard let topic = Topic(text) else { return .failure(.badTopic) }
        guard self.covers(topic, directory: directory) else { return .failure(.topicDisallowed) }
        let grant = TopicGrant(topic, isApp: directory.app(topic) != nil)
        if self.certificate != nil {
            self.certificateGrants.add(grant)
        } else if !self.proofs.isEmpty {
            self.proofs[0].grants.add(grant)
        }
        return .success(grant)
    }

    private var onlyTopic: Topic? {
        self.certificate.flatMap { $0.topics.count == 1 ? $0.defaultTopic : nil }
    }

    /// Whether the provider, authenticated before, may push to this topic.
    func covers(_ topic: Topic, directory: some TrustDirectory) -> Bool {
        if let certificate { return certificate.topics.contains(topic) }
        guard let key = self.proofs.first?.token.key,
            let app = directory.app(topic) ?? directory.app(topic.bundleID)
        else { return false }
        return app.teamID == key.teamID && key.lists(topic, ofApp: app.bundleID)
    }
}
