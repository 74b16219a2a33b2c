import Foundation
import PushTesting
import Testing

@testable import PushGateway

@Suite struct RequestIDGeneratorTests {
    @Test func idsAreUUIDsInUpperCaseAndDiffer() {
        var ids = RequestIDGenerator()
        var seen: Set<String> = []
        for _ in 0..<10_000 {
            let id = ids.next()
            #expect(seen.insert(id).inserted)
            #expect(RequestIDGenerator.isID(id))
            #expect(UUID(uuidString: id)?.uuidString == id)
            #expect(Array(id.utf8)[14] == UInt8(ascii: "4"), "version 4")
            #expect("89AB".utf8.contains(Array(id.utf8)[19]), "the variant of RFC 9562")
        }
    }

    @Test(arguments: [
        ("eabeae54-14a8-11e5-b60b-1697f925ec7b", true), ("EABEAE54-14A8-11E5-B60B-1697F925EC7B", true), ("42", false),
        ("", false), ("eabeae54-14a8-11e5-b60b-1697f925ec7", false), ("eabeae54-14a8-11e5-b60b-1697f925ec7b0", false),
        ("eabeae5414a8-11e5-b60b-1697f925ec7b-", false), ("gabeae54-14a8-11e5-b60b-1697f925ec7b", false),
        ("{abeae54-14a8-11e5-b60b-1697f925ec7}", false), ("éabeae54-14a8-11e5-b60b-1697f925ec7", false),
    ])
    func onlyTheCanonicalFormIsAnID(text: String, isID: Bool) {
        #expect(RequestIDGenerator.isID(text) == isID)
    }
}
