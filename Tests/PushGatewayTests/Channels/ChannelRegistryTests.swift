import PushTesting
import PushTypes
import Testing

@testable import PushGateway

@Suite struct ChannelRegistryTests {
    @Test func channelsSurviveARestart() async throws {
        let app = try #require(Topic(Vectors.bundleID))
        try await withTemporaryDirectory { folder in
            let database = try GatewayDatabase(path: "\(folder)/gateway.sqlite")
            let channels = try ChannelRegistry(database: database)
            let kept = try #require(try await channels.create(.newest, app: app, in: .sandbox, now: Vectors.issuedAt))
            let gone = try #require(try await channels.create(.nothing, app: app, in: .sandbox, now: Vectors.issuedAt))
            #expect(try await channels.delete(gone, app: app, in: .sandbox))
            #expect(try await !channels.delete(gone, app: app, in: .sandbox))
            let again = try ChannelRegistry(database: database)
            #expect(again.policy(of: kept, app: app, in: .sandbox) == .newest)
            #expect(again.channels(app: app, in: .sandbox) == [kept])
            #expect(again.policy(of: kept, app: app, in: .production) == nil, "environments are separate")
        }
    }

    @Test func manyAtATimeDoNotExceedTheLimitAndNoTwoAreTheSame() async throws {
        let app = try #require(Topic(Vectors.bundleID))
        try await withTemporaryDirectory { folder in
            let channels = try ChannelRegistry(
                database: try GatewayDatabase(path: "\(folder)/gateway.sqlite"),
                capacity: 5
            )
            let ids = try await withThrowingTaskGroup(of: String?.self) { group in
                for _ in 0..<20 {
                    group.addTask { try await channels.create(.nothing, app: app, in: .sandbox, now: Vectors.issuedAt) }
                }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(ids.compactMap { $0 }.count == 5)
            #expect(channels.channels(app: app, in: .sandbox).count == 5)
            #expect(try await channels.create(.nothing, app: app, in: .production, now: Vectors.issuedAt) != nil)
        }
    }

    @Test func switchingTheFeatureOffDeletesAllChannelsOfAnApp() async throws {
        let (app, other) = (try #require(Topic(Vectors.bundleID)), try #require(Topic("com.example.Other")))
        try await withTemporaryDirectory { folder in
            let database = try GatewayDatabase(path: "\(folder)/gateway.sqlite")
            let channels = try ChannelRegistry(database: database)
            for environment in PushEnvironment.allCases {
                _ = try await channels.create(.nothing, app: app, in: environment, now: Vectors.issuedAt)
            }
            let kept = try await channels.create(.nothing, app: other, in: .sandbox, now: Vectors.issuedAt)
            #expect(try await channels.deleteAll(app: app).count == 2)
            for channels in [channels, try ChannelRegistry(database: database)] {
                #expect(channels.channels(app: app, in: .sandbox).isEmpty)
                #expect(channels.channels(app: app, in: .production).isEmpty)
                #expect(channels.channels(app: other, in: .sandbox) == [kept])
            }
        }
    }
}
