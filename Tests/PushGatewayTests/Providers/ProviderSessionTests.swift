import Foundation
import NIOCore
import PushTesting
import PushTypes
import PushWire
import Testing

@testable import PushGateway

/// The responses and stream limits of a connection (APNs reference 1.3, 1.8, 7.8).
@Suite struct ProviderSessionTests {
    // MARK: Responses

    @Test func theResponseToAnAcceptedPushHasItsID() async throws {
        try await withSession { session in
            let decision = session.receive(TestRequest.push(["apns-id": TestRequest.id.uppercased()]))
            guard case .submit(let push, let response) = decision.decision else {
                Issue.record("\(decision)")
                return
            }
            #expect(push.notification.id == TestRequest.id.uppercased())
            #expect(response.status == 200)
            #expect(response.apnsID == push.notification.id)
            #expect(response.uniqueID != nil, "the sandbox's console key")
            #expect(response.body == nil)
            let failure = ProviderSession.rejection(.internalServerError, of: response)
            #expect(failure.status == 500)
            #expect(failure.apnsID == response.apnsID)
            #expect(failure.body == #"{"reason":"InternalServerError"}"#)
        }
    }

    @Test func aRejectionEchoesTheIDByteForByteOrMakesOne() async throws {
        try await withSession { session in
            let upper = TestRequest.id.uppercased()
            let echoed = try session.error(TestRequest.push(["apns-id": upper, ":path": "/"]))
            #expect(echoed.apnsID == upper)
            #expect(echoed.body == #"{"reason":"BadPath"}"#)
            for id in ["42", nil] {
                let made = try session.error(TestRequest.push(["apns-id": id, "apns-topic": nil]))
                #expect(made.apnsID.map(RequestIDGenerator.isID) == true)
            }
        }
    }

    @Test func aTokenThatIsGoneTellsWhen() async throws {
        try await withSession { session in
            let response = try session.error(TestRequest.push([":path": "/3/device/\(TestDirectory.goneToken)"]))
            #expect(response.status == 410)
            #expect(response.body == #"{"reason":"Unregistered","timestamp":1699999999500}"#)
        }
    }

    @Test func productionHasNoUniqueID() async throws {
        try await withSession(environment: .production) { session in
            guard case .submit(_, let response) = session.receive(TestRequest.push()).decision else {
                Issue.record("not accepted")
                return
            }
            #expect(response.uniqueID == nil)
        }
    }

    @Test func retryAfterIsSentOnlyWhereItIsConfigured() async throws {
        var rules = ProviderRules.lenient
        rules.deviceRate = .init(requests: 0, window: .seconds(1))
        rules.retryAfter = 7
        try await withSession(rules) { session in
            let limited = try session.error(TestRequest.push())
            #expect(limited.retryAfter == 7)
            let faulty = try session.error(TestRequest.push(["apns-topic": nil]))
            #expect(faulty.retryAfter == nil)
        }
    }

    // MARK: Undocumented tokens

    /// Findings D8.
    @Test func aTokenOfES512IsReportedOnceAndRefusedByTheStrict() async throws {
        let request = TestRequest.push(["authorization": "bearer \(try TestKey().signES512())"])
        try await withSession { session in
            let first = session.receive(request)
            #expect(first.algorithm == .es512)
            if case .submit = first.decision {} else { Issue.record("it is not accepted: \(first.decision)") }
            #expect(session.receive(request).algorithm == nil, "it is in the log already")
            #expect(session.receive(TestRequest.push()).algorithm == nil)
        }
        try await withSession(.strict) { session in
            #expect(session.receive(request).algorithm == nil)
            let error = try session.error(request)
            #expect(error.body?.contains("InvalidProviderToken") == true)
        }
    }

    // MARK: The stream limit

    @Test func theStrictBeginWithOneStreamUntilARequestIsAccepted() async throws {
        try await withSession(.strict) { session in
            #expect(session.session.streamLimit == 1)
            #expect(session.receive(TestRequest.push(["apns-topic": nil])).instruction == nil)
            #expect(session.receive(TestRequest.push()).instruction == .announce(streamLimit: 1000))
            #expect(session.receive(TestRequest.push()).instruction == nil)
        }
    }

    @Test func theLenientAndThoseWithACertificateHaveManyStreamsAtOnce() async throws {
        try await withSession { session in
            #expect(session.session.streamLimit == 1000)
            #expect(session.receive(TestRequest.push()).instruction == nil)
            for _ in 0..<1000 {
                #expect(session.receive(TestRequest.push([":path": "/3/device/zz"])).instruction == nil)
            }
        }
        let certificate = try PushRequestValidatorTests.certificate([Vectors.bundleID])
        try await withSession(.strict, certificate: certificate) { session in
            #expect(session.session.streamLimit == 1000)
        }
    }

    @Test func rejectionsInARowLowerTheLimitAndAnAcceptedRequestRestoresIt() async throws {
        var rules = ProviderRules.lenient
        rules.refusalsBeforeSlowdown = 3
        try await withSession(rules) { session in
            let bad = TestRequest.push(["apns-priority": "7"])
            for expected in [nil, nil, ProviderSession.Instruction.announce(streamLimit: 1), nil] {
                #expect(session.receive(bad).instruction == expected)
            }
            #expect(session.receive(TestRequest.push()).instruction == .announce(streamLimit: 1000))
            #expect(session.receive(bad).instruction == nil)
            #expect(session.receive(TestRequest.push()).instruction == nil, "it counts in a row")
            #expect(session.receive(bad).instruction == nil)
        }
    }

    @Test func badTokensCountMoreAndThoseThatAreGoneDoNotCount() async throws {
        var rules = ProviderRules.lenient
        rules.refusalsBeforeEnd = 10
        try await withSession(rules) { session in
            let gone = TestRequest.push([":path": "/3/device/\(TestDirectory.goneToken)"])
            for _ in 0..<100 { #expect(session.receive(gone).instruction == nil) }
            let bad = TestRequest.push([":path": "/3/device/zz"])
            #expect(session.receive(bad).instruction == nil)
            #expect(session.receive(bad).instruction == .goAway(.badDeviceToken))
        }
    }

    @Test func aCertificateThatIsRevokedEndsTheConnection() async throws {
        let certificate = try PushRequestValidatorTests.certificate([Vectors.bundleID])
        try await withSession(certificate: certificate) { session in
            #expect(session.receive(TestRequest.push()).instruction == nil)
            session.directory.change { $0.revoked = ["01"] }
            let result = session.receive(TestRequest.push())
            #expect(result.instruction == .goAway(.badCertificate))
            guard case .reject(_, let response) = result.decision else {
                Issue.record("\(result)")
                return
            }
            #expect(response.status == 403)
        }
    }

    // MARK: Garbage

    @Test func everyRequestHasAResponse() async throws {
        try await withSession(.strict) { session in
            var generator = SeededGenerator(seed: 4)
            let names = [
                ":method", ":path", "authorization", "apns-push-type", "apns-topic", "apns-id", "apns-expiration",
                "apns-priority", "apns-collapse-id", "apns-channel-id", "apns-request-id",
            ]
            let values = [
                "POST", "GET", "DELETE", "/3/device/00", "/4/broadcasts/apps/\(Vectors.bundleID)",
                "/1/apps/\(Vectors.bundleID)/channels", "/1/apps/\(Vectors.bundleID)/all-channels",
                "bearer \(Vectors.providerToken)", "bearer a.b.c", Vectors.bundleID, "liveactivity", "0",
                "99999999999999999999", "-1", "", "é", "\0", TestRequest.id,
            ]
            for _ in 0..<3000 {
                var request = ProviderRequest()
                for name in names {
                    let fits = Bool.random(using: &generator)
                    let known: [String: String] = [
                        ":method": "POST", ":path": "/4/broadcasts/apps/\(Vectors.bundleID)",
                        "authorization": "bearer \(Vectors.providerToken)",
                    ]
                    let value = fits ? known[name] : values.randomElement(using: &generator)
                    if let value { request.add(name: name, value: value) }
                }
                let length = Int.random(in: 0...40, using: &generator)
                request.appendBody(
                    ByteBuffer(bytes: (0..<length).map { _ in UInt8.random(in: 0x20...0x7f, using: &generator) })
                )
                switch session.receive(request).decision {
                case .submit(_, let response), .broadcast(_, let response):
                    #expect(response.status == 200)
                case .respond(let response): #expect(response.requestID != nil)
                case .manage(let command): #expect(RequestIDGenerator.isID(command.requestID))
                case .reject(let rejection, let response):
                    #expect(response.status == rejection.reason.status)
                    #expect((response.apnsID ?? response.requestID).map(RequestIDGenerator.isID) == true)
                }
            }
        }
    }
}

/// A session with its directory and channels.
final class TestSession {
    let directory: TestDirectory
    let channels: ChannelRegistry
    var session: ProviderSession

    init(directory: TestDirectory, channels: ChannelRegistry, session: ProviderSession) {
        self.directory = directory
        self.channels = channels
        self.session = session
    }

    func receive(_ request: ProviderRequest, now: Timestamp = Vectors.issuedAt) -> ProviderSession.Evaluation {
        self.session.receive(request, now: now)
    }

    /// Returns the response to a request that is rejected.
    func error(_ request: ProviderRequest) throws -> ProviderResponse {
        let result = self.receive(request)
        guard case .reject(_, let response) = result.decision else {
            throw UnexpectedDecision(description: "\(result.decision)")
        }
        return response
    }

    struct UnexpectedDecision: Error, CustomStringConvertible {
        var description: String
    }
}

/// Runs `body` with a session that has an empty database.
func withSession(
    _ rules: ProviderRules = .lenient,
    environment: PushEnvironment = .sandbox,
    certificate: CertificateIdentity? = nil,
    _ body: (TestSession) async throws -> Void
) async throws {
    try await withTemporaryDirectory { folder in
        let channels = try ChannelRegistry(database: try GatewayDatabase(path: "\(folder)/gateway.sqlite"))
        let directory = try TestDirectory()
        let shared = ProviderSession.Shared(
            environment: environment,
            rules: rules,
            directory: directory,
            channels: channels
        )
        try await body(
            TestSession(
                directory: directory,
                channels: channels,
                session: ProviderSession(shared, certificate: certificate)
            )
        )
    }
}
