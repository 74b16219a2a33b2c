import Foundation
import NIOCore
package import ProviderModel
package import PushSender
package import PushStore
package import PushSupport
package import PushTypes

/// Tests a credential against the push service without a device, with a push to a token that does not exist.
///
/// The push service checks credential and topic before the token (reference 1.12). A rejected token proves both.
package struct CredentialTester: Sendable {
    private let store: any AppStore
    private let directory: SenderDirectory
    private let source: any SenderSource
    private let time: any TimeSource

    package init(store: any AppStore, directory: SenderDirectory, source: any SenderSource, time: any TimeSource) {
        (self.store, self.directory, self.source, self.time) = (store, directory, source, time)
    }

    /// Tests the stored credential of an environment.
    /// - Parameter measures: `true` to time a second push if the first one proves the credential.
    /// - Throws: The error of a store that cannot be read.
    package func testStored(_ target: AppEnvironment, measures: Bool = false) async throws -> CredentialTestResult {
        let endpoint = self.source.endpoint(of: target.environment)
        guard let app = try await self.store.app(id: target.app) else {
            return CredentialTestResult(endpoint, fault: .missing(target.environment))
        }
        switch try await self.directory.credential(target, at: self.time.now) {
        case .failure(let error): return CredentialTestResult(endpoint, fault: error.fault)
        case .success(let credential):
            return await self.test(credential, target, topic: app.bundleID, measures: measures)
        }
    }

    /// Tests a credential that is not stored. If it is unusable, ``CredentialTestResult/fault`` says why.
    package func test(
        _ record: CredentialRecord,
        over transport: PushTransport = .http2,
        of app: AppRecord,
        in environment: PushEnvironment
    ) async -> CredentialTestResult {
        let endpoint = self.source.endpoint(of: environment)
        do {
            let credential = await self.directory.prepare(try record.credential().over(transport))
            let target = AppEnvironment(app: app.id, environment: environment)
            return await self.test(credential, target, topic: app.bundleID, measures: true)
        } catch {
            let fault = ConfigurationFault(
                .credentialUnusable,
                detail: "\(error)",
                host: endpoint.host,
                port: endpoint.port
            )
            return CredentialTestResult(endpoint, fault: fault)
        }
    }

    private func test(
        _ credential: PushCredential,
        _ target: AppEnvironment,
        topic: Topic,
        measures: Bool
    ) async -> CredentialTestResult {
        let endpoint = self.source.endpoint(of: target.environment, for: credential)
        let sender: any NotificationSender
        do {
            sender = try self.source.testSender(for: credential, app: target.app, environment: target.environment)
        } catch {
            let cause: ConfigurationFault.Cause
            if case CredentialError.expired = error { cause = .credentialExpired } else { cause = .credentialUnusable }
            let fault = ConfigurationFault(cause, detail: "\(error)", host: endpoint.host, port: endpoint.port)
            return CredentialTestResult(endpoint, fault: fault, expires: credential.expires)
        }
        guard let push = Self.push(topic) else { return CredentialTestResult(endpoint, fault: nil) }
        let outcome = await sender.send([push]).first ?? .notSent(.init("the test has no outcome"))
        var test = CredentialTestResult(endpoint, outcome, expires: credential.expires)
        guard measures, test.isTopicAllowed == true else { return test }
        // A second push is timed, because the first one waited for its connection.
        let start = ContinuousClock.now
        _ = await sender.send([push])
        test.roundTrip = ContinuousClock.now - start
        return test
    }

    private static func push(_ topic: Topic) -> Push? {
        guard let token = DeviceToken(bytes: RandomBytes.make(32)) else { return nil }
        let notification = PushNotification(
            id: UUID().uuidString.lowercased(),
            topic: topic,
            pushType: .background,
            priority: .powerAware,
            expiration: .immediate,
            payload: ByteBuffer(string: #"{"aps":{"content-available":1}}"#)
        )
        return Push(notification, to: token)
    }
}

/// The result of a test of a credential. A property is `nil` if the test ended before it could be determined.
package struct CredentialTestResult: Hashable, Sendable {
    /// The host name or IP address of the push service.
    package var host: String
    package var port: Int
    /// A Boolean value that indicates whether a connection was opened, or `nil` if the test ended earlier.
    package var isReached: Bool?
    /// A Boolean value that indicates whether the TLS handshake succeeded, or `nil` if the test ended earlier.
    package var isTrusted: Bool?
    package var isCredentialAccepted: Bool?
    package var isTopicAllowed: Bool?
    /// The fault that the test found, or `nil` if it found none.
    package var fault: ConfigurationFault?
    /// The reason in the push service's response, or why there was no response. It is `nil` if the push was accepted.
    package var reason: String?
    /// The time from a push to its response over an open connection, or `nil` if it was not measured.
    package var roundTrip: Duration?
    /// The expiration time of a certificate, or `nil` for a signing key.
    package var expires: Timestamp?

    /// A Boolean value that indicates whether the test proves that pushes can be sent with the credential.
    package var isProven: Bool { self.isTopicAllowed == true }

    /// Creates the result of a test that sent no push because of `fault`, or because none could be encoded (`nil`).
    init(_ endpoint: PushServiceEndpoint, fault: ConfigurationFault?, expires: Timestamp? = nil) {
        (self.host, self.port, self.fault) = (endpoint.host, endpoint.port, fault)
        (self.reason, self.expires) = (fault?.detail, expires)
    }

    init(_ endpoint: PushServiceEndpoint, _ outcome: Outcome, expires: Timestamp?) {
        self.init(endpoint, fault: ConfigurationFault(outcome, at: endpoint), expires: expires)
        switch outcome {
        case .accepted:
            (self.isReached, self.isTrusted, self.isCredentialAccepted, self.isTopicAllowed) = (true, true, true, true)
        case .rejected(let rejection): self.evaluate(rejection)
        case .notSent(let failure), .unknown(let failure):
            self.reason = failure.description
            self.evaluate(failure)
        }
    }

    /// Returns whether the test proves that a fault has ended: by a working credential or, for a connection fault, by a
    /// response.
    func ends(_ fault: ConfigurationFault) -> Bool {
        if self.isProven { return true }
        guard fault.cause.isOfConnection, self.isTrusted == true else { return false }
        // Any response shows that connections can be opened again, except for a wrong protocol: the server may have
        // responded about the token, which does not exist, so that only a real push can end that fault.
        return self.fault == nil || self.fault?.cause == .wrongProtocol && fault.cause != .wrongProtocol
    }

    private mutating func evaluate(_ rejection: Rejection) {
        (self.isReached, self.isTrusted) = (true, true)
        self.reason = rejection.reasonText.isEmpty ? "HTTP status \(rejection.status)" : rejection.reasonText
        switch self.fault?.cause {
        case .topicDisallowed: (self.isCredentialAccepted, self.isTopicAllowed) = (true, false)
        case .some: self.isCredentialAccepted = false
        case nil:
            // A push service that is busy says nothing about the credential.
            guard rejection.status == 400 || rejection.status == 410 else { return }
            (self.isCredentialAccepted, self.isTopicAllowed) = (true, true)
        }
    }

    private mutating func evaluate(_ failure: Outcome.Failure) {
        switch failure.fault?.cause {
        case .unknownHost, .refused, .unreachable, .timeout, .proxy, .proxyUnavailable: self.isReached = false
        case .untrustedServer, .wrongProtocol, .closed: (self.isReached, self.isTrusted) = (true, false)
        case .clientCertificateRejected:
            (self.isReached, self.isTrusted, self.isCredentialAccepted) = (true, true, false)
        case .other, nil:
            if self.fault?.cause == .credentialRejected {
                (self.isReached, self.isTrusted, self.isCredentialAccepted) = (true, true, false)
            }
        }
    }
}
