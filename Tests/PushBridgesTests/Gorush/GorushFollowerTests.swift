import Testing

@testable import PushBridges

@Suite struct GorushFollowerTests {
    @Test func theTokensInMemoryAreLimited() {
        let load = GorushFollower.Load()
        #expect(load.add(600, limit: 1000))
        #expect(!load.add(401, limit: 1000))
        #expect(load.add(400, limit: 1000))
        #expect(!load.add(1, limit: 1000))
        load.remove(600)
        #expect(load.add(600, limit: 1000))
        #expect(!GorushFollower.Load().add(1001, limit: 1000))
    }
}
