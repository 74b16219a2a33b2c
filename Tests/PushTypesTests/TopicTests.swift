import PushTesting
import PushTypes
import PushWire
import Testing

@Suite struct TopicTests {
    @Test func aTopicHashIsTheSHA1OfItsText() throws {
        let topic = try #require(Topic(Vectors.bundleID))
        #expect(Hexadecimal.encode(TopicHash(topic).bytes) == Vectors.topicHash)
    }

    @Test(arguments: ["", "com.example/App", "com example", "com.exämple", String(repeating: "a", count: 256)])
    func invalidNamesAreRejected(name: String) {
        #expect(Topic(name) == nil)
    }

    @Test(arguments: PushType.allCases)
    func aSuffixLeadsBackToTheBundleID(type: PushType) throws {
        let topic = try #require(Topic(Vectors.bundleID + type.topicSuffix))
        #expect(topic.bundleID.name == Vectors.bundleID)
    }

    /// The bundle id of an app may end like the suffix of a push type.
    @Test func theAppWithTheWholeTopicGoesBeforeTheOneWithoutItsSuffix() throws {
        let topic = try #require(Topic("\(Vectors.bundleID).voip"))
        func owner(_ apps: [String: Int]) -> Int? { topic.owner { apps[$0.name] } }
        #expect(owner([Vectors.bundleID: 1, topic.name: 2]) == 2)
        #expect(owner([Vectors.bundleID: 1]) == 1)
        #expect(owner(["com.example": 1, "\(topic.name).voip": 2]) == nil)
    }

    @Test func derivedTopicsHaveTheBundleIDAndEverySuffixOnce() throws {
        let derived = try #require(Topic(Vectors.bundleID)).derivedTopics.map(\.name)
        #expect(derived.first == Vectors.bundleID)
        #expect(Set(derived).count == derived.count)
        #expect(derived.contains("com.example.MyApp.voip"))
        #expect(derived.contains("com.example.MyApp.push-type.liveactivity"))
    }
}
