import PushSupport
import PushTypes
import Testing

/// The test vector of APNs reference 8.10.
@Suite struct CertificateTopicTests {
    static let hex =
        "306a0c11636f6d2e6578616d706c652e4d7941707030050c036170700c16636f6d2e6578616d706c652e4d794170702e766f697030060c"
        + "04766f69700c1e636f6d2e6578616d706c652e4d794170702e636f6d706c69636174696f6e300e0c0c636f6d706c69636174696f6e"

    @Test func theListOfTheReferenceIsDecodedAndEncoded() throws {
        let bytes = try #require(Hexadecimal.decode(Self.hex))
        try #require(bytes.count == 108)
        let topics = try CertificateTopic.list(derEncoded: bytes)
        #expect(
            topics.map(\.topic.name) == [
                "com.example.MyApp", "com.example.MyApp.voip", "com.example.MyApp.complication",
            ]
        )
        #expect(topics.map(\.kinds) == [["app"], ["voip"], ["complication"]])
        #expect(try CertificateTopic.derEncoded(topics) == bytes)
    }

    @Test func aTruncatedListIsRejected() throws {
        let bytes = try #require(Hexadecimal.decode(Self.hex))
        for length in 0..<bytes.count {
            #expect(throws: (any Error).self) { try CertificateTopic.list(derEncoded: Array(bytes.prefix(length))) }
        }
    }
}
