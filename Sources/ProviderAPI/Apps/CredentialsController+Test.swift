import Foundation
import Hummingbird
package import PushHTTP
package import PushProvider
import PushStore
import PushSupport
import PushTypes

/// `POST /v1/apps/{app}/credentials/{environment}:test`: proves a credential against the push service without a device.
extension CredentialsController {
    func testing(_ path: String) -> ProviderOperation {
        .init(.post, "\(path):test", .audited, id: "testCredential", self.test)
            .summary("Tests the stored credential, or the one in the body, with a push that reaches no device.")
            .tag(.apps).scope(.operate)
            .body(Self.testRequest.schema, isRequired: false)
            .responses(.ok(CredentialTestResponse.schema, "The test was made, whatever it found."))
            .errors(.conflict)
    }

    private static let testRequest = RequestObject(optional: Self.request.members) { _ in
        Schema.any(of: [RequestObject().schema] + Self.kinds.map { $0.schema }).named("CredentialTestRequest")
    }

    private func test(_ request: OperationRequest) async throws -> Response {
        let environment = try request.pathEnvironment()
        let app = try await request.app(self.store)
        let fields = try await request.fields(Self.testRequest)
        let isStored = fields.members.isEmpty && fields.nulls.isEmpty
        let record = isStored ? nil : try Self.record(fields)
        let target = AppEnvironment(app: app.id, environment: environment)
        if record == nil, try await self.store.credential(app: app.id, environment: environment) == nil {
            throw RequestError.missingCredential(
                environment.rawValue,
                hint: ": set one, or give one in the body",
                at: "environment"
            )
        }
        let place = try self.takeTest(of: app)
        defer { place.end() }
        if let record { try Self.check(record, app: app, environment: environment, fields, now: self.time.now) }
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
package struct CredentialTestResponse: ResponseObject {
    package let test: CredentialTestResult
    let environment: PushEnvironment
    let app: Topic

    private var cause: String? { self.test.fault?.cause.rawValue }
    private var message: String? { self.test.fault?.description }
    private var advice: String? { self.test.fault?.advice(app: self.app, self.environment) }
    private var roundTrip: Double? { self.test.roundTrip.map { ($0 / .milliseconds(1) * 10).rounded() / 10 } }

    package static let schemaName: String? = "CredentialTest"
    package static let members: [ResponseMember<Self>] = [
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
