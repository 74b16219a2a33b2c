import PushTypes

/// One provider connection as the rules see it: every request goes in, what is to be done about it comes out.
///
/// No I/O. The door that owns it performs what it decides; nothing has to come back, because the answer to an accepted
/// push is decided with it.
struct ProviderSession: Sendable {
    /// What the connections of one environment share.
    struct Shared: Sendable {
        var environment: PushEnvironment
        var rules: ProviderRules
        var directory: any PushDirectory
        var channels: ChannelRegistry
        /// `nil` without ``ProviderRules/deviceRate``.
        var limiter: DeviceRateLimiter?
        let refusedTokens = RejectedTokenCache()
        let checks = SignatureCheckLimiter()

        init(
            environment: PushEnvironment,
            rules: ProviderRules,
            directory: any PushDirectory,
            channels: ChannelRegistry
        ) {
            self.environment = environment
            self.rules = rules
            self.directory = directory
            self.channels = channels
            self.limiter = rules.deviceRate.map { DeviceRateLimiter($0) }
        }
    }

    /// What is to be done about a request.
    enum Decision: Sendable {
        /// The core takes the push; once it has, this is the answer, and another if it could not
        /// (``refusal(_:of:)``).
        case submit(AcceptedPush, answer: ProviderResponse)
        /// The same for a broadcast.
        case broadcast(AcceptedBroadcast, answer: ProviderResponse)
        /// A channel is made or ended, which takes a while.
        case manage(ChannelCommand)
        case answer(ProviderResponse)
        /// For the log, and for the core where a token is gone (``PushSubmitter``).
        case refuse(ProviderRejection, answer: ProviderResponse)
    }

    /// What is to be done about the connection, after the answer to this request.
    enum Instruction: Hashable, Sendable {
        case announce(streamLimit: Int)
        /// GOAWAY with this reason in JSON; what was accepted is still answered.
        case goAway(Reason)
        /// GOAWAY without the requests that follow, which are not looked at: too many bad provider tokens.
        case endUnheard
    }

    struct Verdict: Sendable {
        var decision: Decision
        var instruction: Instruction?
    }

    private static let maximumWeight = 1000

    private let shared: Shared
    private let validator: PushRequestValidator
    private var connection: ProviderConnection
    private var ids = RequestIDs()
    /// What the client was told.
    private(set) var streamLimit: Int
    /// Since the last accepted request, weighted.
    private var refusals = 0

    /// - Parameters:
    ///   - certificate: what was shown in the TLS handshake and found good (``ProviderAuthority``); `nil` for a connection
    ///     that proves itself by tokens.
    ///   - source: where the connection comes from.
    init(
        _ shared: Shared,
        certificate: CertificateIdentity? = nil,
        source: SignatureCheckLimiter.Source = SignatureCheckLimiter.Source(nil)
    ) {
        self.shared = shared
        self.validator = PushRequestValidator(
            directory: shared.directory,
            rules: shared.rules,
            limiter: shared.limiter
        )
        self.connection = ProviderConnection(
            environment: shared.environment,
            certificate: certificate,
            refused: shared.refusedTokens,
            source: source,
            sources: shared.checks
        )
        // The first SETTINGS announce it.
        self.streamLimit = certificate == nil ? shared.rules.firstStreamLimit : shared.rules.streamLimit
    }

    mutating func receive(_ request: ProviderRequest, now: Timestamp) -> Verdict {
        let path = ProviderPath(request.path)
        let decision =
            switch path {
            case .device, .missingDevice, .unknown: self.push(request, path, now)
            case .broadcast(let app): self.broadcast(request, app, now)
            case .channels(let app): self.manage(request, app, isList: false, now)
            case .allChannels(let app): self.manage(request, app, isList: true, now)
            }
        return Verdict(decision: decision, instruction: self.instruction(after: decision))
    }

    /// What the connection proved itself with last: a key id, or the serial number of a certificate.
    var credential: String? { self.connection.credential }

    /// The answer where the core could not take what was accepted; `answer` is what it would have been.
    static func refusal(_ reason: Reason, of answer: ProviderResponse) -> ProviderResponse {
        if let id = answer.requestID { return .refused(reason, requestID: id) }
        return .refused(reason, apnsID: answer.apnsID ?? "")
    }

    // MARK: Requests

    private mutating func push(_ request: ProviderRequest, _ path: ProviderPath, _ now: Timestamp) -> Decision {
        let apnsID = self.id(request.fields.id)
        do throws(ProviderRejection) {
            let push = try self.validator.validate(
                request,
                path: path,
                connection: &self.connection,
                apnsID: apnsID,
                now: now
            )
            let uniqueID = self.shared.environment == .sandbox ? self.ids.next() : nil
            return .submit(push, answer: .accepted(apnsID: apnsID, uniqueID: uniqueID))
        } catch {
            var answer = ProviderResponse.refused(error.reason, apnsID: apnsID, timestamp: error.timestamp)
            answer.retryAfter = self.retryAfter(error.reason)
            return .refuse(error, answer: answer)
        }
    }

    private mutating func broadcast(_ request: ProviderRequest, _ app: String, _ now: Timestamp) -> Decision {
        let requestID = self.id(request.fields.requestID ?? request.fields.id)
        do throws(ProviderRejection) {
            let broadcast = try BroadcastValidator(shared: self.shared).validate(
                request,
                app: app,
                connection: &self.connection,
                requestID: requestID,
                now: now
            )
            return .broadcast(broadcast, answer: ProviderResponse(status: 200, requestID: requestID))
        } catch {
            return self.refuse(error, requestID: requestID)
        }
    }

    private mutating func manage(
        _ request: ProviderRequest,
        _ app: String,
        isList: Bool,
        _ now: Timestamp
    ) -> Decision {
        let requestID = self.id(request.fields.requestID ?? request.fields.id)
        do throws(ProviderRejection) {
            let result = try ChannelRequestValidator(shared: self.shared).validate(
                request,
                app: app,
                isList: isList,
                connection: &self.connection,
                requestID: requestID,
                now: now
            )
            switch result {
            case .answer(let answer): return .answer(answer)
            case .command(let command): return .manage(command)
            }
        } catch {
            return self.refuse(error, requestID: requestID)
        }
    }

    private func refuse(_ refusal: ProviderRejection, requestID: String) -> Decision {
        var answer = ProviderResponse.refused(refusal.reason, requestID: requestID)
        answer.retryAfter = self.retryAfter(refusal.reason)
        return .refuse(refusal, answer: answer)
    }

    /// The request's own id byte for byte (reference 7.10 row 3), if it is one.
    private mutating func id(_ named: String?) -> String {
        if let named, RequestIDs.isID(named) { return named }
        return self.ids.next()
    }

    private func retryAfter(_ reason: Reason) -> Int? {
        reason.status == 429 || reason.status == 503 ? self.shared.rules.retryAfter : nil
    }

    // MARK: The connection

    private mutating func instruction(after decision: Decision) -> Instruction? {
        guard case .refuse(let refusal, _) = decision else { return self.accepted() }
        if self.connection.mustEnd { return .endUnheard }
        return self.refused(refusal.reason)
    }

    private mutating func accepted() -> Instruction? {
        self.refusals = 0
        guard self.streamLimit != self.shared.rules.streamLimit else { return nil }
        self.streamLimit = self.shared.rules.streamLimit
        return .announce(streamLimit: self.streamLimit)
    }

    /// Reference 1.3 and 7.8. A token that is gone is nobody's fault (reference 1.9), and a device that gets too much says
    /// nothing of the connection.
    private mutating func refused(_ reason: Reason) -> Instruction? {
        let rules = self.shared.rules
        if reason == .badCertificate || reason == .badCertificateEnvironment { return .goAway(reason) }
        guard reason.status != 410, reason != .tooManyRequests else { return nil }
        let weight = min(max(1, rules.badDeviceTokenWeight), Self.maximumWeight)
        self.refusals += reason == .badDeviceToken ? weight : 1
        if let limit = rules.refusalsBeforeEnd, self.refusals >= limit { return .goAway(reason) }
        guard let limit = rules.refusalsBeforeSlowdown, self.refusals >= limit, self.streamLimit > 1 else { return nil }
        self.streamLimit = 1
        return .announce(streamLimit: 1)
    }
}
