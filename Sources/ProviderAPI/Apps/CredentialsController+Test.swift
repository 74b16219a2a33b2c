import Foundation
import Hummingbird
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes
import Synchronization

/// `POST /v1/apps/{app}/credentials/{environment}:test`: proves a credential against the push service without a device.
extension CredentialsController {
    func testing(_ path: String) -> ProviderOperation {
        .init(.post, "\(path):test", .audited, id: "testCredential", self.test)
            .summary("Tests the stored credential, or the one in the body, with a push that reaches no device.")
            .tag(.apps).scope(.operate)
            .body(Schema.any(of: [.object(optional: [:])] + Self.kinds).named("CredentialTestRequest"))
            .responses(.ok(CredentialTestResponse.schema, "The test was made, whatever it found."))
            .errors(.conflict)
    }

    private func test(_ request: OperationRequest) async throws -> Response {
        let environment = try request.pathEnvironment()
        let app = try await request.app(self.store)
        let body = try await request.body()
        let fields = try JSONFields(parsing: body.isEmpty ? Data("{}".utf8) : body, known: Self.members)
        let record = fields.members.isEmpty ? nil : try Self.record(fields)
        if let record { try Self.check(record, app: app, environment: environment, fields, now: self.time.now) }
        let target = AppEnvironment(app: app.id, environment: environment)
        if record == nil, try await self.store.credential(app: app.id, environment: environment) == nil {
            throw RequestError.missingCredential(
                environment.rawValue,
                hint: ": set one, or give one in the body",
                at: "environment"
            )
        }
        try self.tests.begin(app.id)
        defer { self.tests.end(app.id) }
        let test =
            if let record {
                await self.tester.test(record, over: try Self.transport(fields), of: app, in: environment)
            } else {
                try await self.tester.testStored(target, measures: true)
            }
        return try .json(CredentialTestResponse(test: test, environment: environment, app: app.bundleID))
    }
}

/// The result of a test in a response.
private struct CredentialTestResponse: ResponseObject {
    let test: CredentialTest
    let environment: PushEnvironment
    let app: Topic

    private var cause: String? { self.test.fault?.cause.rawValue }
    private var message: String? { self.test.fault?.description }
    private var advice: String? { self.test.fault?.advice(app: self.app, self.environment) }
    private var roundTrip: Double? { self.test.roundTrip.map { ($0 / .milliseconds(1) * 10).rounded() / 10 } }

    static let schemaName: String? = "CredentialTest"
    static let members: [ResponseMember<Self>] = [
        .required("environment", \.environment),
        .required("works", \.test.isProven, "Whether pushes of the app would be accepted."),
        .required("host", \.test.host),
        .required("port", \.test.port),
        .optional("reached", \.test.isReached, "Whether there was a connection. A step that was not made is absent."),
        .optional("trusted", \.test.isTrusted, "Whether the TLS handshake succeeded."),
        .optional("credentialAccepted", \.test.isCredentialAccepted),
        .optional("topicAllowed", \.test.isTopicAllowed, "Whether the credential may send to the app's bundle id."),
        .optional("reason", \.test.reason, "The push service's reason, or that of the failure."),
        .optional("cause", \.cause, as: .choice(of: ConfigurationFault.Cause.self)),
        .optional("message", \.message, "What is wrong, in one sentence."),
        .optional("advice", \.advice, "What to change."),
        .optional("roundTripMs", \.roundTrip, "From a push to its response, over an open connection."),
        .optional("expiresAtMs", \.test.expires, "The expiration of a certificate."),
    ]
}

/// Limits the tests of an app's credentials: one at a time, and a few in a minute.
final class CredentialTestLimiter: Sendable {
    private let running = Mutex<Set<Int64>>([])
    private let rates = TokenBucketTable<Int64>(rate: 0.2, burst: 10)

    /// - Throws: ``RetryLaterError`` or ``RequestError`` if the app may not test now.
    func begin(_ app: Int64, now: ContinuousClock.Instant = .now) throws {
        if let delay = self.rates.with(app, now: now, { $0.take(1, now: now) }) {
            let message = "an app tests its credentials 10 times at once, and then every 5 s: try again later"
            throw RetryLaterError(.init(.rateLimited, code: "too_many_tests", message: message), after: delay)
        }
        guard self.running.withLock({ $0.insert(app).inserted }) else {
            throw RequestError.conflict("test_in_progress", "another test of this app is in progress: wait for its end")
        }
    }

    func end(_ app: Int64) { self.running.withLock { _ = $0.remove(app) } }
}
