import Foundation
import NIOCore
import PushTesting
import PushTypes
import PushWire
import Synchronization
import Testing

@testable import PushGateway

/// Broadcasts and channels from the side of a provider: the vectors of APNs reference 8.9 and the errors of 4.3.
@Suite struct BroadcastTests {
    static let id = "eabeae54-14a8-11e5-b60b-1697f925ec7b"
    static let update = #"{"aps":{"timestamp":1700000000,"event":"update","content-state":{"s":1}}}"#

    @Test func theReferencesSequenceOfRequests() async throws {
        try await Self.withChannels { test in
            // 9a
            let created = await test.response(Self.create(policy: 0))
            #expect(created.status == 201)
            #expect(created.body == nil)
            let channel = try #require(created.channelID)
            #expect(Data(base64Encoded: channel)?.count == 16)
            // 9b
            let read = await test.response(Self.manage("GET", channel: channel))
            #expect(read.status == 200)
            #expect(read.body == #"{"message-storage-policy":0,"push-type":"LiveActivity"}"#)
            // 9c
            let broadcast = try test.broadcast(Self.broadcast(channel))
            #expect(broadcast.channel.bundleID.name == Vectors.bundleID)
            #expect(broadcast.channel.id == channel)
            #expect(broadcast.policy == .nothing)
            #expect(broadcast.notification.id == Self.id)
            #expect(broadcast.storageEnd(acceptedAt: Vectors.issuedAt) == nil)
            // 9d, 9e, 9f
            #expect(test.reason(Self.broadcast(channel, ["apns-expiration": "1700003600"])) == .badExpirationDate)
            #expect(test.reason(Self.broadcast(nil)) == .missingChannelId)
            let suffixed = [":path": "/4/broadcasts/apps/com.example.MyApp.push-type.liveactivity"]
            #expect(test.reason(Self.broadcast(channel, suffixed)) == .topicDisallowed)
            // 9g
            let deleted = await test.response(Self.manage("DELETE", channel: channel))
            #expect(deleted.status == 204)
            #expect(deleted.body == nil)
            #expect(test.deleted.ids == [channel])
            #expect(test.reason(Self.broadcast(channel)) == .channelNotRegistered)
            // 9h
            let list = await test.response(Self.manage("GET", path: "all-channels"))
            #expect(list.status == 200)
            #expect(list.body == #"{"channels":[]}"#)
            for response in [created, read, deleted, list] { #expect(response.requestID == Self.id) }
        }
    }

    @Test(
        arguments: [
            ([":method": "GET"], Reason.methodNotAllowed),
            ([":path": "/4/broadcasts/apps/com.example.MyApp/x"], .badPath),
            ([":path": "/4/broadcasts/apps/com example"], .badPath),
            (["authorization": nil], .missingProviderToken),
            (["authorization": "bearer x"], .invalidProviderToken),
            ([":path": "/4/broadcasts/apps/com.example.Foreign"], .topicMismatch),
            ([":path": "/4/broadcasts/apps/com.example.Unknown"], .topicMismatch),
            ([":path": "/4/broadcasts/apps/com.example.Silent"], .featureNotEnabled),
            (["apns-request-id": "42"], .badMessageId),
            (["apns-channel-id": ""], .missingChannelId),
            (["apns-channel-id": "!"], .badChannelId),
            (["apns-channel-id": String(repeating: "A", count: 132)], .badChannelId),
            (["apns-channel-id": "dGVzdC1jaGFubmVsLTAx"], .channelNotRegistered),
            (["apns-expiration": "soon"], .badExpirationDate),
            (["apns-priority": "7"], .badPriority),
            (["apns-push-type": nil], .missingPushType),
            (["apns-push-type": "alert"], .invalidPushType),
        ] as [([String: String?], Reason)]
    )
    func aFaultOfABroadcastHasItsReason(changes: [String: String?], reason: Reason) async throws {
        try await Self.withChannels { test in
            test.session.directory.change { $0.add(app: "com.example.Silent", allowsBroadcast: false) }
            let channel = try #require(await test.response(Self.create(policy: 1)).channelID)
            #expect(test.reason(Self.broadcast(channel)) == nil)
            #expect(test.reason(Self.broadcast(channel, changes)) == reason)
        }
    }

    @Test func theBodyOfABroadcastIsAnObjectOfLimitedSize() async throws {
        try await Self.withChannels { test in
            let channel = try #require(await test.response(Self.create(policy: 1)).channelID)
            func reason(_ body: String) -> Reason? { test.reason(Self.broadcast(channel, body: body)) }
            #expect(reason("") == .payloadEmpty)
            #expect(reason("x") == .badRequestPayload)
            #expect(reason("[]") == .badRequestPayload)
            #expect(reason(Self.body(size: 5120)) == nil)
            #expect(reason(Self.body(size: 5121)) == .payloadTooLarge)
        }
        try await Self.withChannels(.strict) { test in
            test.session.directory.change { $0.add(app: Vectors.bundleID) }
            let channel = try #require(await test.response(Self.create(policy: 1)).channelID)
            let start = #"{"aps":{"timestamp":1700000000,"event":"start"}}"#
            #expect(test.reason(Self.broadcast(channel, body: start)) == .badRequestPayload, "none starts by broadcast")
            #expect(test.reason(Self.broadcast(channel)) == nil)
        }
    }

    @Test func whatIsLeftOutIsDecidedByThePolicy() async throws {
        try await Self.withChannels { test in
            let changes: [String: String?] = ["apns-expiration": nil, "apns-priority": nil]
            for (policy, end) in [(0, nil), (1, Vectors.issuedAt.advanced(by: .seconds(8 * 3600)))] {
                let channel = try #require(await test.response(Self.create(policy: policy)).channelID)
                let broadcast = try test.broadcast(Self.broadcast(channel, changes))
                #expect(broadcast.notification.priority == .immediate)
                #expect(broadcast.storageEnd(acceptedAt: Vectors.issuedAt) == end)
            }
        }
    }

    @Test(arguments: [("0", nil), ("1700003600", 3600), ("1800000000", 8 * 3600)])
    func aStoredBroadcastEndsWithItsExpirationOrAfterEightHours(expiration: String, seconds: Int?) async throws {
        try await Self.withChannels { test in
            let channel = try #require(await test.response(Self.create(policy: 1)).channelID)
            let broadcast = try test.broadcast(Self.broadcast(channel, ["apns-expiration": expiration]))
            let end = seconds.map { Vectors.issuedAt.advanced(by: .seconds($0)) }
            #expect(broadcast.storageEnd(acceptedAt: Vectors.issuedAt) == end)
        }
    }

    @Test(arguments: ["liveactivity", "LiveActivity", "Liveactivity"])
    func thePushTypeIsWrittenInManyWays(type: String) async throws {
        try await Self.withChannels { test in
            let channel = try #require(await test.response(Self.create(policy: 1)).channelID)
            #expect(test.reason(Self.broadcast(channel, ["apns-push-type": type])) == nil)
        }
    }

    @Test func theRequestIDIsEchoedOrMadeAndAnAPNsIDStandsInForIt() async throws {
        try await Self.withChannels { test in
            let channel = try #require(await test.response(Self.create(policy: 1)).channelID)
            let other = try test.broadcast(Self.broadcast(channel, ["apns-request-id": nil, "apns-id": Self.id]))
            #expect(other.notification.id == Self.id)
            let made = try test.broadcast(Self.broadcast(channel, ["apns-request-id": nil]))
            #expect(RequestIDGenerator.isID(made.notification.id))
            let rejected = await test.response(Self.broadcast(nil, ["apns-request-id": Self.id.uppercased()]))
            #expect(rejected.requestID == Self.id.uppercased())
            #expect(rejected.apnsID == nil)
        }
    }

    @Test func aCertificateMayBroadcastToWhatItLists() async throws {
        let certificate = try PushRequestValidatorTests.certificate([Vectors.bundleID])
        try await Self.withChannels(certificate: certificate) { test in
            let channel = try #require(await test.response(Self.create(policy: 1, ["authorization": nil])).channelID)
            #expect(test.reason(Self.broadcast(channel, ["authorization": nil])) == nil)
            let other = [":path": "/4/broadcasts/apps/com.example.Other"]
            #expect(test.reason(Self.broadcast(channel, other)) == .topicMismatch)
        }
    }

    // MARK: Management

    @Test(arguments: [
        ("", Reason.payloadEmpty), ("x", .badRequestPayload), ("[]", .badRequestPayload),
        (#"{"message-storage-policy":0,"push-type":"LiveActivity","x":1}"#, .badRequestParams),
        (#"{"message-storage-policy":0}"#, .missingPushType),
        (#"{"message-storage-policy":0,"push-type":"alert"}"#, .invalidPushType),
        (#"{"message-storage-policy":0,"push-type":5}"#, .invalidPushType),
        (#"{"push-type":"LiveActivity"}"#, .missingChannelQueueSize),
        (#"{"message-storage-policy":2,"push-type":"LiveActivity"}"#, .missingChannelQueueSize),
        (#"{"message-storage-policy":"0","push-type":"LiveActivity"}"#, .missingChannelQueueSize),
    ])
    func aFaultInTheBodyOfANewChannelHasItsReason(body: String, reason: Reason) async throws {
        try await Self.withChannels { test in
            #expect(test.reason(Self.manage("POST", body: body)) == reason)
        }
    }

    @Test(
        arguments: [
            ("PUT", "channels", [:], Reason.methodNotAllowed), ("POST", "all-channels", [:], .methodNotAllowed),
            ("GET", "x", [:], .methodNotAllowed), ("POST", "x", [:], .badPath),
            ("GET", "channels", [:], .missingChannelId), ("DELETE", "channels", [:], .missingChannelId),
            ("GET", "channels", ["apns-channel-id": "é"], .badChannelId),
            ("DELETE", "channels", ["apns-channel-id": "dGVzdC1jaGFubmVsLTAx"], .channelNotRegistered),
            ("GET", "all-channels", ["authorization": nil], .missingProviderToken),
            ("GET", "all-channels", ["apns-request-id": "42"], .badMessageId),
        ] as [(String, String, [String: String?], Reason)]
    )
    func aFaultOfAManagementRequestHasItsReason(
        method: String,
        path: String,
        changes: [String: String?],
        reason: Reason
    ) async throws {
        try await Self.withChannels { test in
            #expect(test.reason(Self.manage(method, path: path, changes)) == reason)
        }
    }

    @Test func oneChannelTooManyIsRejected() async throws {
        try await Self.withChannels(capacity: 2) { test in
            for _ in 0..<2 { #expect(await test.response(Self.create(policy: 0)).status == 201) }
            let rejected = await test.response(Self.create(policy: 0))
            #expect(rejected.status == 400)
            #expect(rejected.body == #"{"reason":"CannotCreateChannelConfig"}"#)
        }
    }

    // MARK: Requests

    static func broadcast(
        _ channel: String?,
        _ changes: [String: String?] = [:],
        body: String = BroadcastTests.update
    ) -> ProviderRequest {
        TestRequest.make(
            [
                ":method": "POST", ":path": "/4/broadcasts/apps/\(Vectors.bundleID)",
                "authorization": "bearer \(Vectors.providerToken)", "apns-channel-id": channel,
                "apns-push-type": "liveactivity", "apns-priority": "10", "apns-expiration": "0",
                "apns-request-id": Self.id,
            ],
            changes,
            body: Data(body.utf8)
        )
    }

    static func manage(
        _ method: String,
        path: String = "channels",
        _ changes: [String: String?] = [:],
        channel: String? = nil,
        body: String = ""
    ) -> ProviderRequest {
        TestRequest.make(
            [
                ":method": method, ":path": "/1/apps/\(Vectors.bundleID)/\(path)",
                "authorization": "bearer \(Vectors.providerToken)", "apns-channel-id": channel,
                "apns-request-id": Self.id,
            ],
            changes,
            body: Data(body.utf8)
        )
    }

    static func create(policy: Int, _ changes: [String: String?] = [:]) -> ProviderRequest {
        Self.manage("POST", changes, body: #"{"message-storage-policy":\#(policy),"push-type":"LiveActivity"}"#)
    }

    static func body(size: Int) -> String {
        let frame = #"{"aps":{"event":"end","text":""}}"#
        return frame.dropLast(3) + String(repeating: "a", count: size - frame.utf8.count) + frame.suffix(3)
    }

    static func withChannels(
        _ rules: ProviderRules = .lenient,
        certificate: CertificateIdentity? = nil,
        capacity: Int = ChannelRegistry.capacity,
        _ body: (ChannelTest) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { folder in
            let database = try GatewayDatabase(path: "\(folder)/gateway.sqlite")
            let channels = try ChannelRegistry(database: database, capacity: capacity)
            let directory = try TestDirectory()
            let shared = ProviderSession.Shared(
                environment: .sandbox,
                rules: rules,
                directory: directory,
                channels: channels
            )
            let session = ProviderSession(shared, certificate: certificate)
            try await body(ChannelTest(TestSession(directory: directory, channels: channels, session: session)))
        }
    }
}

/// A session that performs its changes of channels.
final class ChannelTest {
    /// The ids of the channels that were deleted.
    final class DeletedChannels: Sendable {
        private let channels = Mutex<[String]>([])

        var ids: [String] { self.channels.withLock { $0 } }

        func add(_ channel: ChannelName) { self.channels.withLock { $0.append(channel.id) } }
    }

    let session: TestSession
    let deleted = DeletedChannels()

    init(_ session: TestSession) {
        self.session = session
    }

    func response(_ request: ProviderRequest) async -> ProviderResponse {
        switch self.session.receive(request).decision {
        case .respond(let response), .reject(_, let response), .submit(_, let response), .broadcast(_, let response):
            return response
        case .manage(let command):
            let manager = ChannelManager(
                channels: self.session.channels,
                time: ManualTime(),
                logger: silentLogger,
                channelDeleted: self.deleted.add
            )
            return await manager.perform(command)
        }
    }

    func reason(_ request: ProviderRequest) -> Reason? {
        guard case .reject(let rejection, _) = self.session.receive(request).decision else { return nil }
        return rejection.reason
    }

    func broadcast(_ request: ProviderRequest) throws -> AcceptedBroadcast {
        let result = self.session.receive(request)
        guard case .broadcast(let broadcast, let response) = result.decision else {
            throw TestSession.UnexpectedDecision(description: "\(result.decision)")
        }
        #expect(response.status == 200)
        #expect(response.requestID == broadcast.notification.id)
        return broadcast
    }
}
