import PushSupport
import PushTypes
import PushWire

/// The authentication of one provider connection, by its certificate or its requests' provider tokens (reference 2).
///
/// The first valid token binds the connection to its team and to the kind of its key. For a token that was verified
/// before, only its bytes, its age and the directory's ``TrustDirectory/changes`` are compared.
struct ConnectionAuthentication: Sendable {
    /// The maximum number of verified tokens that are remembered. A connection uses one at a time, or two with a
    /// related key.
    static let maximumTokens = 4

    private struct Verified: Sendable {
        var header: String
        var token: VerifiedProviderToken
        /// The time at which the token replaced an earlier token of the same key, or `nil` for the key's first token on
        /// the connection.
        var changedAt: Timestamp?
        var grants = TopicGrantCache()
    }

    private let environment: PushEnvironment
    private let certificate: CertificateIdentity?
    private let rejectedTokens: RejectedTokenCache
    private let source: SignatureCheckLimiter.Source
    private let sources: SignatureCheckLimiter
    /// The bucket that limits the invalid tokens on this connection, or `nil` before the first one.
    private var checks: SignatureCheckLimiter.Bucket?
    /// A Boolean value that indicates whether too many invalid tokens were checked, so that no further request is
    /// processed.
    private(set) var mustEnd = false
    /// The undocumented algorithm of an accepted token, until it is logged, or `nil` if there is none.
    private var unloggedAlgorithm: ProviderTokenAlgorithm?
    private var isCertificateRevoked = false
    private var certificateGrants = TopicGrantCache()
    private var verified: [Verified] = []
    /// The key of the first valid token, which determines which other keys the connection may use, or `nil` before that
    /// token.
    private var firstKey: RegisteredKey?
    /// The value of ``TrustDirectory/changes`` for which the remembered tokens and topics are valid, or `nil` before
    /// the first request.
    private var changes: UInt64?

    /// Creates the authentication of a new connection.
    /// - Parameters:
    ///   - certificate: The valid certificate of the TLS handshake, or `nil` for a connection that authenticates by
    ///     tokens.
    ///   - rejected: The cache of invalid tokens, which all connections of the environment share.
    ///   - source: The address of the client, to whose bucket in `sources` invalid tokens are charged.
    init(
        environment: PushEnvironment,
        certificate: CertificateIdentity? = nil,
        rejected: RejectedTokenCache = RejectedTokenCache(),
        source: SignatureCheckLimiter.Source = SignatureCheckLimiter.Source(nil),
        sources: SignatureCheckLimiter = SignatureCheckLimiter()
    ) {
        (self.environment, self.certificate, self.rejectedTokens) = (environment, certificate, rejected)
        (self.source, self.sources) = (source, sources)
    }

    var hasCertificate: Bool { self.certificate != nil }

    /// The key id of the token that was used last, or the certificate's serial number, or `nil` before the first valid
    /// token.
    var credential: String? { self.certificate?.serial ?? self.verified.first?.token.key.keyID }

    /// Authenticates a request. With a certificate, the `authorization` field is ignored (reference 1.5).
    /// - Returns: The reason for rejecting the request, or `nil` if the provider is authenticated.
    mutating func authenticate(
        _ authorization: String?,
        directory: some TrustDirectory,
        rules: ProviderRules,
        now: Timestamp
    ) -> Reason? {
        let changes = directory.changes
        if self.changes != changes { self.removeOutdated(directory, changes) }
        if let certificate { return self.isCertificateRevoked || now > certificate.expiresAt ? .badCertificate : nil }
        guard let authorization else { return .missingProviderToken }
        for index in self.verified.indices where self.verified[index].header == authorization {
            if index > 0 { self.verified.swapAt(0, index) }
            return self.verified[0].token.rejection(at: now)
        }
        switch self.verify(authorization, directory: directory, rules: rules, now: now) {
        case .success(let verified): self.remember(verified)
        case .failure(let reason): return reason
        }
        return nil
    }

    private mutating func removeOutdated(_ directory: some TrustDirectory, _ changes: UInt64) {
        self.changes = changes
        self.certificateGrants = TopicGrantCache()
        if let certificate { self.isCertificateRevoked = directory.isRevoked(certificate: certificate.serial) }
        self.verified.removeAll { directory.key($0.token.key.keyID) != $0.token.key }
        for index in self.verified.indices { self.verified[index].grants = TopicGrantCache() }
    }

    /// Returns the undocumented algorithm of an accepted token, once for each token, or `nil` if there is none.
    mutating func takeUndocumentedAlgorithm() -> ProviderTokenAlgorithm? { self.unloggedAlgorithm.take() }

    private mutating func remember(_ verified: Verified) {
        if verified.token.algorithm != .es256 { self.unloggedAlgorithm = verified.token.algorithm }
        if self.firstKey == nil { self.firstKey = verified.token.key }
        if self.verified.count >= Self.maximumTokens { self.verified.removeLast() }
        self.verified.insert(verified, at: 0)
    }
}

// MARK: Tokens

extension ConnectionAuthentication {
    /// Verifies a token in the order of reference 2.1: first the token itself, then its use on this connection.
    private mutating func verify(
        _ authorization: String,
        directory: some TrustDirectory,
        rules: ProviderRules,
        now: Timestamp
    ) -> Result<Verified, Reason> {
        self.checked(authorization, directory: directory, rules: rules, now: now).flatMap { token in
            if let reason = self.rejection(of: token.key, rules) { return .failure(reason) }
            return self.change(to: token, rules, now).map { changedAt in
                Verified(header: authorization, token: token, changedAt: changedAt)
            }
        }
    }

    /// Checks a token without regard to this connection. A token that is known to be invalid is not checked again.
    private mutating func checked(
        _ authorization: String,
        directory: some TrustDirectory,
        rules: ProviderRules,
        now: Timestamp
    ) -> Result<VerifiedProviderToken, Reason> {
        let changes = directory.changes
        if let fault = self.rejectedTokens.outcome(of: authorization, changes: changes)?.rejection(at: now) {
            return .failure(fault)
        }
        let parts = authorization.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return .failure(.invalidProviderToken) }
        let token = ProviderTokenVerifier.signed(
            String(parts[1]),
            algorithms: rules.tokenAlgorithms,
            key: directory.key
        )
        let outcome = token.map { RejectedTokenCache.Outcome.signed($0) } ?? .invalid
        if let token, outcome.rejection(at: now) == nil { return .success(token) }
        self.rejectedTokens.remember(authorization, outcome, changes: changes)
        self.countFailedCheck(now: now)
        return .failure(outcome.rejection(at: now) ?? .invalidProviderToken)
    }

    private mutating func countFailedCheck(now: Timestamp) {
        var checks = self.checks ?? SignatureCheckLimiter.ofConnection(now: now)
        let isWithin = checks.take(now: now) == nil
        self.checks = checks
        if !self.sources.take(self.source, now: now) || !isWithin { self.mustEnd = true }
    }

    /// Returns the reason why a key may not be used on this connection, or `nil` if it may be used.
    private func rejection(of key: RegisteredKey, _ rules: ProviderRules) -> Reason? {
        if let firstKey, firstKey.teamID != key.teamID { return .invalidProviderToken }
        guard key.serves(self.environment) else { return rules.wrongEnvironmentKey }
        if let firstKey, !key.isRelated(to: firstKey) { return .unrelatedKeyIdInToken }
        return nil
    }

    /// Checks the time between two tokens of the same key.
    /// - Returns: The time of the change, which is `nil` for the key's first token, or the reason for rejecting the
    ///   change.
    private func change(
        to token: VerifiedProviderToken,
        _ rules: ProviderRules,
        _ now: Timestamp
    ) -> Result<Timestamp?, Reason> {
        let earlier = self.verified.filter { $0.token.key.keyID == token.key.keyID }
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

extension ConnectionAuthentication {
    /// Returns the topic of a push if the authenticated provider may push to it, or the reason for rejecting the push.
    /// - Parameter text: The field `apns-topic`. `nil` stands for the certificate's only topic (reference 2.2).
    mutating func grant(_ text: String?, directory: some TrustDirectory) -> Result<TopicGrant, Reason> {
        let text = text ?? self.onlyTopic?.name ?? ""
        guard !text.isEmpty else { return .failure(.missingTopic) }
        if let known = self.grants.find(text) { return .success(known) }
        guard let topic = Topic(text) else { return .failure(.badTopic) }
        guard self.covers(topic, directory: directory) else { return .failure(.topicDisallowed) }
        let grant = TopicGrant(topic, isApp: directory.app(topic) != nil)
        self.grants.add(grant)
        return .success(grant)
    }

    /// The topics that the certificate, or the token in use, may push to.
    private var grants: TopicGrantCache {
        // Yielding spares a copy per push.
        _read { if self.usesCertificate { yield self.certificateGrants } else { yield self.verified[0].grants } }
        _modify { if self.usesCertificate { yield &self.certificateGrants } else { yield &self.verified[0].grants } }
    }

    private var usesCertificate: Bool { self.certificate != nil || self.verified.isEmpty }

    private var onlyTopic: Topic? { self.certificate.flatMap { $0.topics.count == 1 ? $0.defaultTopic : nil } }

    func covers(_ topic: Topic, directory: some TrustDirectory) -> Bool {
        if let certificate { return certificate.topics.contains(topic) }
        guard let key = self.verified.first?.token.key,
            let app = topic.owner(lookingUp: { directory.app($0) })
        else { return false }
        return app.teamID == key.teamID && key.lists(topic, ofApp: app.bundleID)
    }
}

struct TopicGrant: Hashable, Sendable {
    var topic: Topic
    var hash: TopicHash
    /// The push type whose suffix follows the app's bundle id in the topic, such as `voip`, or `nil` for no suffix.
    var suffixType: PushType?

    /// Creates the grant for a topic.
    /// - Parameter isApp: Whether an app with exactly this name, including any suffix, is registered.
    init(_ topic: Topic, isApp: Bool) {
        self.topic = topic
        self.hash = TopicHash(topic)
        self.suffixType =
            isApp
            ? nil
            : PushType.allCases.first { !$0.topicSuffix.isEmpty && topic.name.hasSuffix($0.topicSuffix) }
    }
}

/// Caches the topics that a credential may push to, so that the next push to one of them costs only a comparison.
struct TopicGrantCache: Sendable {
    /// The maximum number of cached topics. When it is exceeded, all are removed.
    static let capacity = 256

    private var last: (text: String, grant: TopicGrant)?
    private var all: [String: TopicGrant] = [:]

    mutating func find(_ text: String) -> TopicGrant? {
        if let last = self.last, last.text == text { return last.grant }
        guard let grant = self.all[text] else { return nil }
        self.last = (text, grant)
        return grant
    }

    mutating func add(_ grant: TopicGrant) {
        if self.all.count >= Self.capacity { self.all = [:] }
        self.all[grant.topic.name] = grant
        self.last = (grant.topic.name, grant)
    }
}
