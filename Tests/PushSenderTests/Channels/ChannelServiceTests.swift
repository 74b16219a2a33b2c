import NIOCore
import NIOHPACK
import PushSupport
import PushTesting
import PushTypes
import Synchronization
import Testing

@testable import PushSender
@testable import PushWire

@Suite(.timeLimit(.patience)) struct ChannelServiceTests {
    private static let path = "/1/apps/com.example.MyApp/channels"

    /// Runs `body` with a scripted service and channels of it.
    private func withChannels<Value: Sendable>(
        script: @escaping ScriptedService.Script,
        configure: (inout SenderConfiguration) -> Void = { _ in },
        _ body: @Sendable (ChannelService, ScriptedService) async throws -> Value
    ) async throws -> Value {
        let service = try await ScriptedService.start(script: script)
        var configuration = SenderConfiguration.patient
        configure(&configuration)
        let channels = try ChannelService(
            to: service.endpoint,
            credential: .token(try ProviderTokenSignerTests.key()),
            configuration: configuration,
            logger: silentLogger
        )
        do {
            let value = try await body(channels, service)
            await channels.close()
            await service.stop()
            return value
        } catch {
            await channels.close()
            await service.stop()
            throw error
        }
    }

    /// Returns a script that gives all requests one response.
    private static func always(_ act: ScriptedService.Act) -> ScriptedService.Script {
        { _, event in if case .opened = event { ScriptedService.greeting } else { [act] } }
    }

    private static func app() throws -> Topic { try #require(Topic("com.example.MyApp")) }

    @Test func requestsAreThoseOfTheReference() async throws {
        let script: ScriptedService.Script = { _, event in
            guard case .request(let request) = event else { return ScriptedService.greeting }
            switch (request.headers.first(name: ":method"), request.headers.first(name: ":path")) {
            case ("POST", Self.path): return [.reply(status: 201, headers: [("apns-channel-id", "dGVzdC0x")])]
            case ("GET", Self.path):
                return [.reply(body: #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#)]
            case ("DELETE", Self.path): return [.reply(status: 204)]
            default: return [.reply(body: #"{"channels":["dGVzdC0x","dGVzdC0y"]}"#)]
            }
        }
        try await self.withChannels(script: script) { channels, service in
            let app = try Self.app()
            let id = try await channels.createChannel(storing: .newest, for: app)
            #expect(id.text == "dGVzdC0x")
            #expect(try await channels.storage(of: id, of: app) == .newest)
            #expect(try await channels.channels(of: app).map(\.text) == ["dGVzdC0x", "dGVzdC0y"])
            try await channels.deleteChannel(id, of: app)
            let requests = service.requests
            #expect(service.connections == 1)
            #expect(requests.map { $0.headers.first(name: ":method") } == ["POST", "GET", "GET", "DELETE"])
            #expect(requests.map { $0.headers.first(name: "apns-channel-id") } == [nil, id.text, nil, id.text])
            #expect(requests.allSatisfy { $0.authorization.hasPrefix("bearer ") })
            #expect(Set(requests.compactMap { $0.headers.first(name: "apns-request-id") }).count == 4)
            let body = #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#
            #expect(requests.first?.body == Array(body.utf8) && requests[1].body.isEmpty)
            #expect(requests[2].headers.first(name: ":path") == "/1/apps/com.example.MyApp/all-channels")
        }
    }

    @Test func aListOfTenThousandIsReadWhole() async throws {
        let ids = (0..<10_000).map { "c\($0)AAAAAAAAAAAAAAAAAAAA" }
        let list = "{\"channels\":[\(ids.map { "\"\($0)\"" }.joined(separator: ","))]}"
        // Frames of 16 KiB, as the service may send no larger ones.
        let frames = Array(list.utf8).frames(streamID: 1)
        try await self.withChannels(script: Self.always(.bytes(frames))) { channels, _ in
            let app = try Self.app()
            #expect(try await channels.channels(of: app).map(\.text) == ids)
        }
    }

    @Test func aRejectionHasItsReasonAndItsAdvice() async throws {
        let act = ScriptedService.Act.reply(
            status: 429,
            headers: [("retry-after", "7")],
            body: #"{"reason":"TooManyRequests"}"#
        )
        try await self.withChannels(script: Self.always(act)) { channels, service in
            let app = try Self.app()
            let error = await #expect(throws: ChannelServiceError.self) { try await channels.channels(of: app) }
            guard case .rejected(let rejection) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(rejection.advice == .retry(after: .seconds(7)) && service.requests.count == 1)
        }
    }

    @Test(arguments: ["", "[]", "{", #"{"channels":[1]}"#, #"{"channels":["no id"]}"#])
    func garbageIsMalformed(body: String) async throws {
        try await self.withChannels(script: Self.always(.reply(body: body))) { channels, _ in
            let app = try Self.app()
            let error = await #expect(throws: ChannelServiceError.self) { try await channels.channels(of: app) }
            guard case .malformed = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    @Test func aRefusedStreamIsTriedAgainAndALostCreationIsNot() async throws {
        let count = Mutex(0)
        let script: ScriptedService.Script = { _, event in
            guard case .request(let request) = event else { return ScriptedService.greeting }
            let number = count.withLock { count in
                count += 1
                return count
            }
            // REFUSED_STREAM, which says that nothing was processed.
            if number == 1 { return [.reset(7)] }
            if request.headers.first(name: ":method") == "POST" { return [.close] }
            return number == 3 ? [.close] : [.reply(body: #"{"channels":[]}"#)]
        }
        try await self.withChannels(script: script) { channels, service in
            let app = try Self.app()
            let error = await #expect(throws: ChannelServiceError.self) {
                try await channels.createChannel(storing: .none, for: app)
            }
            guard case .unknown = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(service.requests.map { $0.headers.first(name: ":method") } == ["POST", "POST"])
            // A list may be asked for twice.
            #expect(try await channels.channels(of: app).isEmpty)
            #expect(service.requests.count == 4)
        }
    }

    @Test func theEndOfAConnectionIsNoTryOfTheNextRequest() async throws {
        let count = Mutex(0)
        // Each response is the last of its connection, which ends while the next request is made.
        let script: ScriptedService.Script = { _, event in
            guard case .request = event else { return ScriptedService.greeting }
            count.withLock { $0 += 1 }
            return [.reply(body: #"{"channels":[]}"#), .close]
        }
        try await self.withChannels(script: script) { channels, _ in
            let app = try Self.app()
            for _ in 0..<20 { #expect(try await channels.channels(of: app).isEmpty) }
        }
        #expect(count.withLock { $0 } >= 20)
    }

    @Test func allCallersThatWaitForAConnectionLearnThatThereIsNone() async throws {
        let service = try await ScriptedService.start(script: ScriptedService.always200)
        let endpoint = service.endpoint
        await service.stop()
        let credential = PushCredential.token(try ProviderTokenSignerTests.key())
        let channels = try ChannelService(to: endpoint, credential: credential, logger: silentLogger)
        let app = try Self.app()
        await withDiscardingTaskGroup { group in
            for _ in 0..<20 {
                group.addTask {
                    let error = await #expect(throws: ChannelServiceError.self) { try await channels.channels(of: app) }
                    if case .notSent = error { return }
                    Issue.record("\(String(describing: error))")
                }
            }
        }
        await channels.close()
    }

    @Test func withoutAServiceNothingIsSent() async throws {
        let service = try await ScriptedService.start(script: ScriptedService.always200)
        let endpoint = service.endpoint
        await service.stop()
        let credential = PushCredential.token(try ProviderTokenSignerTests.key())
        let channels = try ChannelService(to: endpoint, credential: credential, logger: silentLogger)
        let app = try Self.app()
        let error = await #expect(throws: ChannelServiceError.self) { try await channels.channels(of: app) }
        guard case .notSent(let failure) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(failure.fault != nil)
        await channels.close()
        await #expect(throws: ChannelServiceError.self) { try await channels.channels(of: app) }
    }

    @Test func aServiceThatIsSilentIsGivenUp() async throws {
        try await self.withChannels(script: { _, event in
            if case .opened = event { ScriptedService.greeting } else { [] }
        }) {
            $0.responseTimeout = .milliseconds(300)
        } _: { channels, _ in
            let app = try Self.app()
            let error = await #expect(throws: ChannelServiceError.self) {
                try await channels.createChannel(storing: .none, for: app)
            }
            guard case .unknown = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    @Test func theAddressOfChannelsIsApplesOwnOrTheSame() {
        let sandbox = PushServiceEndpoint.apple(.sandbox).forChannels
        #expect(sandbox.host == "api-manage-broadcast.sandbox.push.apple.com" && sandbox.port == 2195)
        let production = PushServiceEndpoint.apple(.production, port: 2197).forChannels
        #expect(production.host == "api-manage-broadcast.push.apple.com" && production.port == 2196)
        var own = PushServiceEndpoint(host: "localhost", port: 2197)
        own.fallbackPort = 443
        #expect(own.forChannels.host == "localhost" && own.forChannels.port == 2197)
        #expect(own.forChannels.fallbackPort == nil)
    }
}

@Suite(.timeLimit(.patience)) struct BroadcastTests {
    @Test func aBroadcastSharesTheConnectionOfPushes() async throws {
        let script: ScriptedService.Script = { _, event in
            guard case .request(let request) = event else { return ScriptedService.greeting }
            let id = request.headers.first(name: "apns-request-id")
            return [.reply(headers: [id.map { ("apns-request-id", $0) } ?? ("apns-id", request.id)])]
        }
        try await withSender(script: script) { sender, service in
            let app = try #require(Topic("com.example.MyApp"))
            let channel = try #require(ChannelID("dGVzdC0x"))
            let payload = #"{"aps":{"timestamp":1,"event":"update","content-state":{}}}"#
            #expect(await sender.send(makePushes(1)[0]).kind == "accepted")
            let broadcast = Broadcast(to: channel, of: app, id: "request-1", priority: .powerAware, payload: payload)
            #expect(await sender.broadcast(broadcast) == .accepted(.init(id: "request-1")))
            #expect(await sender.send(makePushes(2)[1]).kind == "accepted")
            #expect(service.connections == 1)
            let request = service.requests[1]
            #expect(request.headers.first(name: ":path") == "/4/broadcasts/apps/com.example.MyApp")
            #expect(request.headers.first(name: "apns-channel-id") == "dGVzdC0x")
            #expect(request.headers.first(name: "apns-push-type") == "liveactivity")
            #expect(request.headers.first(name: "apns-priority") == "5")
            #expect(request.headers.first(name: "apns-expiration") == "0")
            #expect(request.headers.first(name: "apns-topic") == nil && request.headers.first(name: "apns-id") == nil)
            #expect(request.body == Array(payload.utf8))
            #expect(service.requests[2].headers.first(name: ":path")?.hasPrefix("/3/device/") == true)
        }
    }
}

extension [UInt8] {
    /// The bytes as the response 200 with DATA frames of 16 KiB.
    fileprivate func frames(streamID: UInt32) -> [UInt8] {
        var buffer = ByteBuffer()
        let block: [UInt8] = [0x08, 3] + Array("200".utf8)
        buffer.write(FrameHeader(length: block.count, type: .headers, flags: .endHeaders, streamID: streamID))
        buffer.writeBytes(block)
        var offset = 0
        while offset < self.count {
            let piece = self[offset..<Swift.min(offset + 16_384, self.count)]
            offset += piece.count
            let flags: FrameFlags = offset == self.count ? .endStream : []
            buffer.write(FrameHeader(length: piece.count, type: .data, flags: flags, streamID: streamID))
            buffer.writeBytes(piece)
        }
        return Array(buffer.readableBytesView)
    }
}
