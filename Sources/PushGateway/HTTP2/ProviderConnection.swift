import PushProtocol

/// What one provider connection remembers: the team it belongs to and the last token that was good.
struct ProviderConnection: Sendable {
    private var team: String?
    private var lastGood: (text: String, token: VerifiedProviderToken)?

    /// The team that the `authorization` header proves, or why it proves none.
    ///
    /// The first good token binds the connection to its team; another team's token is then invalid (reference 2.1).
    /// A token seen before is not verified again, but its age is, and that its key is still registered.
    mutating func authenticate(
        _ authorization: String?,
        key: (String) -> RegisteredKey?,
        now: Timestamp
    ) -> Result<String, Reason> {
        guard let authorization else { return .failure(.missingProviderToken) }
        let parts = authorization.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return .failure(.invalidProviderToken) }
        let text = String(parts[1])
        let verified: VerifiedProviderToken
        if let lastGood, lastGood.text == text {
            guard key(lastGood.token.keyID)?.teamID == lastGood.token.teamID else {
                return .failure(.invalidProviderToken)
            }
            if let reason = ProviderTokenVerifier.age(lastGood.token, now: now) { return .failure(reason) }
            verified = lastGood.token
        } else {
            switch ProviderTokenVerifier.verify(text, key: key, now: now) {
            case .success(let token): verified = token
            case .failure(let reason): return .failure(reason)
            }
        }
        guard self.team == nil || self.team == verified.teamID else { return .failure(.invalidProviderToken) }
        self.team = verified.teamID
        self.lastGood = (text, verified)
        return .success(verified.teamID)
    }
}
