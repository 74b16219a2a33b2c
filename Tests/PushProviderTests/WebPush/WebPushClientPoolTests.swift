import PushSupport
import PushTesting
import PushWire
import Testing

@testable import PushProvider

/// The places of push services in the pool. Nothing is connected here.
@Suite(.timeLimit(.patience)) struct WebPushClientPoolTests {
    private static let (first, second) = ("https://first.example.net/1", "https://second.example.net/1")

    private static func pool(_ configure: (inout WebPushLimits) -> Void) -> WebPushClientPool {
        var limits = WebPushLimits.patient
        configure(&limits)
        return WebPushClientPool(
            addresses: AddressPolicy(),
            resolver: SystemResolver(BudgetRegistry()),
            limits: limits,
            time: ManualTime()
        )
    }

    /// Returns `true` if an app gets the push service of a URL, and calls `body` while it is in use.
    private static func isUsable(
        _ url: String,
        app: Int64 = 1,
        of pool: WebPushClientPool,
        _ body: () async -> Void = {}
    ) async throws -> Bool {
        let origin = try #require(WebOrigin(url))
        return await pool.with(origin, app: app, url: url) { service in
            await body()
            return service != nil
        }
    }

    @Test func anAppWithManyOriginsLeavesRoomToOthers() async throws {
        let pool = Self.pool { $0.servicesOfApp = 1 }
        let origin = try #require(WebOrigin(Self.second))
        var found: [Bool] = []
        let isUsable = try await Self.isUsable(Self.first, of: pool) {
            for app: Int64 in [1, 2] {
                found.append(await pool.with(origin, app: app, url: Self.second) { $0 != nil })
            }
        }
        #expect(isUsable)
        #expect(found == [false, true])
        #expect(try await Self.isUsable(Self.second, of: pool), "what nobody uses gives way")
        await pool.close()
        #expect(try await !Self.isUsable(Self.second, of: pool), "it is closed")
    }

    @Test func whatNobodyUsesGivesWay() async throws {
        let pool = Self.pool { $0.services = 1 }
        #expect(try await Self.isUsable(Self.first, of: pool))
        #expect(try await Self.isUsable(Self.second, app: 2, of: pool))
        #expect(try await Self.isUsable(Self.first, of: pool))
        await pool.close()
    }

    /// A name that resolves to a public address when it is checked, and to this host afterwards.
    @Test func aNameThatIsReboundReachesNoPrivateAddress() async throws {
        let (resolver, time, limits) = (
            ScriptedResolver(["3ffe:ffff::1"], ["127.0.0.1"]), ManualTime(), WebPushLimits()
        )
        let pool = WebPushClientPool(addresses: AddressPolicy(), resolver: resolver, limits: limits, time: time)
        let origin = try #require(WebOrigin(Self.first))
        func failure() async -> PinnedClientFailure? {
            await pool.with(origin, app: 1, url: Self.first) { service in
                if case .failure(let failure)? = await service?.client { failure } else { nil }
            }
        }
        // All messages go to the address that was checked, for as long as it is kept.
        for _ in 1...2 { #expect(await failure() == nil) }
        #expect(resolver.lookUps == 1)
        time.advance(by: limits.addressLifetime)
        guard case .addressNotAllowed? = await failure() else {
            Issue.record("what the name resolves to now is not checked")
            return
        }
        #expect(resolver.lookUps == 2)
        await pool.close()
    }
}
