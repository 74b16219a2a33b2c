import AppSimulator
import Foundation
import PushDevice
import PushGateway
import PushSender
import PushSupport
import PushTesting
import PushTypes
import Testing

/// Channels from the provider, the library and the gateway to devices that follow them.
@Suite(.timeLimit(.patience)) struct BroadcastTests {
    private static let app = "/v1/apps/\(Vectors.bundleID)"

    /// Returns the path of a channel, whose id may have slashes.
    private static func path(_ channel: String) -> String {
        let id = channel.replacing("/", with: "%2F").replacing("+", with: "%2B").replacing("=", with: "%3D")
        return "\(Self.app)/channels/\(id)"
    }

    private static func create(_ loop: RunningLoop, storage: String = "none") async throws -> String {
        let body: JSONValue = ["environment": "sandbox", "storage": .string(storage)]
        let made = try await loop.provider.api.post("\(Self.app)/channels", body)
        #expect(made.status == 201, "\(made.json)")
        return try #require(made.json["id"].stringValue)
    }

    private static func broadcast(
        _ loop: RunningLoop,
        to channel: String,
        _ event: String = "update"
    ) async throws -> JSONValue {
        let activity: JSONValue = ["event": .string(event), "contentState": ["stop": 1]]
        let body: JSONValue = ["channel": .string(channel), "liveActivity": activity]
        let sent = try await loop.provider.api.post("\(Self.app)/broadcasts", body)
        #expect(sent.status == 202, "\(sent.json)")
        return try await loop.provider.finished(sent)
    }

    @Test func aBroadcastReachesADeviceThatFollowsTheChannel() async throws {
        try await withLoop { loop in
            let channel = try await Self.create(loop)
            try await loop.withDevice(try await loop.activate()) { device in
                _ = try await device.deviceToken(for: Vectors.bundleID, timeout: .patience)
                try await device.follow(channel: channel, of: Vectors.bundleID, timeout: .patience)
                let done = try await Self.broadcast(loop, to: channel)
                #expect(done["counters"]["accepted"] == 1 && done["recipients"] == 1)
                let received = try #require(await device.next())
                let payload = try JSONValue(parsing: received.payload)
                #expect(payload["aps"]["event"] == "update" && payload["aps"]["content-state"] == ["stop": 1])
            }
        }
    }

    @Test func aDeviceThatWasAwayGetsTheNewestOfAStoringChannel() async throws {
        try await withLoop { loop in
            let channel = try await Self.create(loop, storage: "newest")
            let identity = try await loop.activate()
            try await loop.withDevice(identity) { device in
                _ = try await device.deviceToken(for: Vectors.bundleID, timeout: .patience)
                try await device.follow(channel: channel, of: Vectors.bundleID, timeout: .patience)
            }
            for event in ["update", "end"] {
                #expect(try await Self.broadcast(loop, to: channel, event)["counters"]["accepted"] == 1)
            }
            try await loop.withDevice(identity) { device in
                _ = try await device.deviceToken(for: Vectors.bundleID, timeout: .patience)
                let received = try #require(await device.next())
                #expect(try JSONValue(parsing: received.payload)["aps"]["event"] == "end")
            }
        }
    }

    @Test func whatIsDeletedIsGoneAndABroadcastToItIsRejected() async throws {
        try await withLoop { loop in
            let channel = try await Self.create(loop)
            let list = try await loop.provider.api.get("\(Self.app)/channels").json["channels"].elements
            #expect(list.map { $0["id"] } == [.string(channel)] && list.map { $0["state"] } == ["active"])
            // An operator deletes it at the gateway: the provider does not know yet.
            let path = "/v1/channels/sandbox/\(Vectors.bundleID)/\(Self.path(channel).split(separator: "/").last ?? "")"
            #expect(try await loop.gateway.admin.delete(path).status == 204)
            let missing = try await loop.provider.api.get("\(Self.app)/channels").json["channels"].elements
            #expect(missing.map { $0["state"] } == ["missing"])
            let done = try await Self.broadcast(loop, to: channel)
            #expect(done["counters"]["rejected"] == 1)
            #expect(try await loop.provider.api.delete(Self.path(channel)).status == 204)
            #expect(try await loop.provider.api.get("\(Self.app)/channels").json["channels"].elements.isEmpty)
            // Pushes go on: nothing of the environment is paused.
            let environment = try await loop.provider.api.get("\(Self.app)/environments/sandbox").json
            #expect(environment["state"] == "running")
        }
    }

    @Test("A Live Activity of a simulated phone is updated by the channel that its start names")
    func simulator() async throws {
        try await withLoop { loop in
            let channel = try await Self.create(loop)
            try await loop.withPhone { phone in
                try await phone.run("wait registered")
                let start: JSONValue = [
                    "event": "start", "attributesType": "Order", "attributes": ["id": "order-42"],
                    "contentState": ["stop": 3], "inputPushChannel": .string(channel),
                ]
                _ = try await phone.send(["liveActivity": start, "alert": "Your order"], to: ["all": true])
                try await phone.run("wait activity")
                // The phone follows the channel a moment later.
                while phone.events(.activity).count < 2 { _ = try await Self.broadcast(loop, to: channel) }
                #expect(phone.events(.activity).prefix(2).map { $0.members["change"] } == ["started", "updated"])
                #expect(phone.events(.activity).last?.members["contentState"] == ["stop": 1])
            }
        }
    }

    @Test func theLibraryManagesChannelsOfTheGateway() async throws {
        try await withTemporaryDirectory { directory in
            try await withGateway(in: "\(directory)/gateway") { gateway in
                try await gateway.registerVectors()
                let endpoint = PushServiceEndpoint(
                    host: "localhost",
                    port: gateway.addresses.main.http2,
                    additionalTrustRoots: gateway.gateway.authorityPEM
                )
                .patient
                let key = try ProviderKey(teamID: Vectors.teamID, keyID: Vectors.keyID, pem: Vectors.privateKey)
                let channels = try ChannelService(
                    to: endpoint,
                    credential: .token(key),
                    configuration: .patient,
                    logger: silentLogger
                )
                let app = try #require(Topic(Vectors.bundleID))
                let id = try await channels.createChannel(storing: .newest, for: app)
                #expect(try await channels.storage(of: id, of: app) == .newest)
                #expect(try await channels.channels(of: app) == [id])
                let sender = try Sender(
                    to: endpoint,
                    credential: .token(key),
                    configuration: .patient,
                    logger: silentLogger
                )
                let payload = #"{"aps":{"timestamp":1700000000,"event":"update","content-state":{"s":1}}}"#
                let broadcast = Broadcast(to: id, of: app, id: Vectors.requestID, payload: payload)
                let accepted = await sender.broadcast(broadcast)
                #expect(accepted == .accepted(.init(id: Vectors.requestID)))
                try await channels.deleteChannel(id, of: app)
                let rejected = await sender.broadcast(Broadcast(to: id, of: app, payload: payload))
                guard case .rejected(let rejection) = rejected else {
                    Issue.record("\(rejected)")
                    return
                }
                #expect(rejection.reason == .channelNotRegistered)
                let error = await #expect(throws: ChannelServiceError.self) {
                    try await channels.storage(of: id, of: app)
                }
                #expect(error?.description == "ChannelNotRegistered")
                for _ in 0..<3 { _ = try await channels.createChannel(storing: .none, for: app) }
                #expect(try await channels.channels(of: app).count == 3)
                await sender.close()
                await channels.close()
            }
        }
    }
}

extension Vectors {
    /// The id of a request, in canonical form.
    fileprivate static let requestID = "5b8e0b2a-3f0a-4b5e-9c52-6f0c9a2f7d11"
}
