import PushTesting
import PushTypes
import Testing

@testable import PushSender

/// Channels at a push service that answers with what nobody asked for. Each call ends with an error that names it.
@Suite(.timeLimit(.patience)) struct HostileChannelServiceTests {
    /// Returns the error of a call to a service that gives all requests one response.
    private static func error(
        _ act: ScriptedService.Act,
        _ call: @Sendable (ChannelService, Topic) async throws -> Void
    ) async throws -> ChannelServiceError? {
        let service = try await ScriptedService.start { _, event in
            if case .opened = event { ScriptedService.greeting } else { [act] }
        }
        let channels = try ChannelService(
            to: service.endpoint,
            credential: .token(try ProviderTokenSignerTests.key()),
            configuration: .patient,
            logger: silentLogger
        )
        let app = try #require(Topic(Vectors.bundleID))
        let error = await #expect(throws: ChannelServiceError.self) { try await call(channels, app) }
        await channels.close()
        await service.stop()
        return error
    }

    /// An id of 10 kB in a field of its own, as a few bytes, and missing.
    @Test(arguments: [String(repeating: "A", count: 10_240), "no id", ""])
    func anIDThatIsNoneIsMalformed(id: String) async throws {
        let headers = id.isEmpty ? [] : [("apns-channel-id", id)]
        let error = try await Self.error(.reply(status: 201, headers: headers)) { channels, app in
            _ = try await channels.createChannel(storing: .none, for: app)
        }
        #expect(error == .malformed("the push service named no channel"))
    }

    @Test func aListWithAnIDOfTenKilobytesIsMalformed() async throws {
        let body = #"{"channels":["\#(String(repeating: "A", count: 10_240))"]}"#
        let error = try await Self.error(.reply(body: body)) { channels, app in _ = try await channels.channels(of: app)
        }
        #expect(error == .malformed("the push service sent something else than ids"))
    }

    /// A list in a list 8,000 times, which a decoder that recurses must not follow.
    @Test func aListThatIsNestedDeeplyIsMalformed() async throws {
        let body = #"{"channels":"# + String(repeating: "[", count: 8000)
        let error = try await Self.error(.reply(body: body)) { channels, app in _ = try await channels.channels(of: app)
        }
        #expect(error == .malformed("the push service sent no list of channels"))
    }
}
