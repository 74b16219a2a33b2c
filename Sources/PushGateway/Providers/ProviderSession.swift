import Foundation
import PushTypes
import PushWire

/// The state machine of one provider connection, which checks every request and decides its response.
///
/// It performs no I/O. The handler that owns it performs each ``Evaluation`` and reports nothing back, because the
/// response to an accepted push is decided in advance.
struct ProviderSession: Sendable {
    struct Shared: Sendable {
        var environment: PushEnvironment
        var rules: ProviderRules
        var directory: any PushDirectory
        var channels: ChannelRegistry
        /// The limit of pushes for each device and topic, or `nil` if ``ProviderRules/deviceRate`` is `nil`.
        var limiter: DeviceRateLimiter?
        let rejectedTokens = RejectedTokenCache()
        let checks = SignatureCheckLimiter()

        init(
            environment: PushEnvironment,
            rules: ProviderRules,
            directory: any PushDirectory,
            channels: ChannelRegistry
        ) {
            (self.environment, self.rules) = (environment, rules)
            (self.directory, self.channels) = (directory, channels)
            self.limiter = rules.deviceRate.map { DeviceRateLimiter($0) }
        }
    }

    enum Decision: Sendable {
        /// Submits the push. Its response is sent once the push is settled. If the push is rejected then, the response
        /// is ``rejection(_:of:)``.
        case submit(AcceptedPush, response: ProviderResponse)
        /// Submits the broadcast. Its response is sent as for ``submit(_:response:)``.
        case broadcast(AcceptedBroadcast, response: ProviderResponse)
        /// Creates or deletes a channel, and responds once the change is on disk.
        case manage(ChannelChange)
        case respond(ProviderResponse)
        /// Sends the response, logs the rejection, and reports an unregistered token to the router (``PushSubmitter``).
        case reject(ProviderRejection, response: ProviderResponse)
    }

    /// An action on the connection that follows the response to a request.
    enum Instruction: Hashable, Sendable {
        case announce(streamLimit: Int)
        /// Sends GOAWAY with this reason in JSON. Accepted requests still receive their responses.
        case goAway(Reason)
        /// Sends GOAWAY and processes no further request, because too many invalid provider tokens were checked.
        case endWithoutProcessing
    }

    struct Evaluation: Sendable {
        var decision: Decision
        var instruction: Instruction?
        /// The undocumented algorithm of an accepted provider token, to be logged once for each token, or `nil` if
        /// there is none.
        var algorithm: ProviderTokenAlgorithm?
    }

    /// The maximum weight of one rejection, which prevents an overflow of the sum.
    private static let maximumWeight = 1000

    private let shared: Shared
    private let validator: PushRequestValidator
    private var authentication: ConnectionAuthentication
    private var ids = RequestIDGenerator()
    /// The limit of concurrent streams that was last announced.
    private(set) var streamLimit: Int
    /// The sum of the weights of all rejections since the last accepted request, which the limits of ``ProviderRules``
    /// restrict.
    private var rejections = 0

    /// Creates the session of a new connection.
    /// - Parameters:
    ///   - certificate: The valid certificate of the TLS handshake (``ProviderAuthority``), or `nil` for a connection
    ///     that authenticates by tokens.
    ///   - source: The address of the client, to which checks of invalid tokens are charged.
    init(
        _ shared: Shared,
        certificate: CertificateIdentity? = nil,
        source: SignatureCheckLimiter.Source = SignatureCheckLimiter.Source(nil)
    ) {
        self.shared = shared
        self.validator = PushRequestValidator(directory: shared.directory, rules: shared.rules, limiter: shared.limiter)
        self.authentication = ConnectionAuthentication(
            environment: shared.environment,
            certificate: certificate,
            rejected: shared.rejectedTokens,
            source: source,
            sources: shared.checks
        )
        // The connection's first SETTINGS frame announces this limit.
        self.streamLimit = certificate == nil ? shared.rules.firstStreamLimit : shared.rules.streamLimit
    }

    mutating func receive(_ request: ProviderRequest, now: Timestamp) -> Evaluation {
        let path = ProviderPath(request.path)
        let decision =
            switch path {
            case .device, .missingDevice, .unknown: self.push(request, path, now)
            case .broadcast, .channels, .allChannels: self.channel(request, path, now)
            }
        return Evaluation(
            decision: decision,
            instruction: self.instruction(after: decision),
            algorithm: self.authentication.takeUndocumentedAlgorithm()
        )
    }

    /// The key id or certificate serial number that authenticated the connection last, or `nil` before the first valid
    /// credential.
    var credential: String? { self.authentication.credential }

    /// Returns the response to a push or broadcast that was rejected after ``receive(_:now:)`` had accepted it.
    static func rejection(_ reason: Reason, of accepted: ProviderResponse) -> ProviderResponse {
        if let id = accepted.requestID { return .rejected(reason, requestID: id) }
        return .rejected(reason, apnsID: accepted.apnsID ?? "")
    }

    // MARK: Requests

    private mutating func push(_ request: ProviderRequest, _ path: ProviderPath, _ now: Timestamp) -> Decision {
        let apnsID = self.id(request.fields.id)
        do throws(ProviderRejection) {
            let push = try self.validator.validate(
                request,
                path: path,
                authentication: &self.authentication,
                apnsID: apnsID,
                now: now
            )
            let uniqueID = self.shared.environment == .sandbox ? self.ids.next() : nil
            return .submit(push, response: .accepted(apnsID: apnsID, uniqueID: uniqueID))
        } catch {
            return self.reject(error, .rejected(error.reason, apnsID: apnsID, timestamp: error.token?.since))
        }
    }

    private mutating func channel(_ request: ProviderRequest, _ path: ProviderPath, _ now: Timestamp) -> Decision {
        let requestID = self.id(request.fields.requestID ?? request.fields.id)
        do throws(ProviderRejection) {
            return try ChannelRequestValidator(shared: self.shared).validate(
                request,
                path: path,
                authentication: &self.authentication,
                requestID: requestID,
                now: now
            )
        } catch {
            return self.reject(error, .rejected(error.reason, requestID: requestID))
        }
    }

    private func reject(_ rejection: ProviderRejection, _ response: ProviderResponse) -> Decision {
        var response = response
        if [429, 503].contains(rejection.reason.status) { response.retryAfter = self.shared.rules.retryAfter }
        return .reject(rejection, response: response)
    }

    /// Returns the request's own id byte for byte (reference 7.10 row 3) if it is valid, otherwise a new one.
    private mutating func id(_ named: String?) -> String {
        if let named, RequestIDGenerator.isID(named) { return named }
        return self.ids.next()
    }

    // MARK: The connection

    private mutating func instruction(after decision: Decision) -> Instruction? {
        guard case .reject(let rejection, _) = decision else { return self.accepted() }
        if self.authentication.mustEnd { return .endWithoutProcessing }
        return self.rejected(rejection.reason)
    }

    private mutating func accepted() -> Instruction? {
        self.rejections = 0
        guard self.streamLimit != self.shared.rules.streamLimit else { return nil }
        self.streamLimit = self.shared.rules.streamLimit
        return .announce(streamLimit: self.streamLimit)
    }

    /// Counts a rejection, and returns the instruction for a connection with too many of them, or `nil` if it has fewer
    /// (reference 1.3, 7.8). Rejections for an unregistered token (reference 1.9) and for too many pushes to one device
    /// do not count, because the connection does not cause them.
    private mutating func rejected(_ reason: Reason) -> Instruction? {
        let rules = self.shared.rules
        if reason == .badCertificate || reason == .badCertificateEnvironment { return .goAway(reason) }
        guard reason.status != 410, reason != .tooManyRequests else { return nil }
        let weight = min(max(1, rules.badDeviceTokenWeight), Self.maximumWeight)
        self.rejections += reason == .badDeviceToken ? weight : 1
        if let limit = rules.refusalsBeforeEnd, self.rejections >= limit { return .goAway(reason) }
        guard let limit = rules.refusalsBeforeSlowdown, self.rejections >= limit, self.streamLimit > 1 else {
            return nil
        }
        self.streamLimit = 1
        return .announce(streamLimit: 1)
    }
}

/// The rejection of a request, with the details for the response, the log and the router.
struct ProviderRejection: Error {
    var reason: Reason
    /// The unregistered token of a push that is rejected with status 410, or `nil` for other rejections.
    var token: UnregisteredToken?
    /// The name, for the log, of the gateway's own rule that rejects the request, or `nil` for a rule of Apple.
    var rule: String?
    /// The recipient of a push that is rejected with status 429, or `nil` for other rejections.
    var recipient: (device: UUID, topic: Topic)?

    init(_ reason: Reason) { self.reason = reason }

    init(tooManyFor device: UUID, topic: Topic, rule: String) {
        self.reason = .tooManyRequests
        self.rule = rule
        self.recipient = (device, topic)
    }

    init(unregistered token: UnregisteredToken) {
        self.reason = .unregistered
        self.token = token
    }
}
