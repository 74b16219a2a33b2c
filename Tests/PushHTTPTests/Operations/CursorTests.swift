import Foundation
import PushSupport
import Testing

@testable import PushHTTP

/// Cursors and pages.
@Suite struct CursorTests {
    private static let list = Cursor.List("d")
    private static let pair = Cursor.List("h", numbers: 2)
    private static let key = Cursor.List("p", numbers: 3)

    @Test(arguments: [0, 1, -1, Int64.max, Int64.min])
    func aCursorIsReadAsItWasWritten(position: Int64) throws {
        let one = Cursor(list: Self.list, position: position)
        #expect(try Cursor(text: one.text, list: Self.list) == one)
        #expect(
            one.text.utf8.allSatisfy { $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "=") }
        )
        let two = Cursor(list: Self.pair, position: position, second: 7)
        #expect(try Cursor(text: two.text, list: Self.pair) == two)
        let three = Cursor(list: Self.key, position: position, second: position, third: position)
        #expect(try Cursor(text: three.text, list: Self.key) == three)
        #expect(throws: RequestError.self) { try Cursor(text: three.text, list: Cursor.List("p", numbers: 2)) }
    }

    @Test(arguments: ["", "x", "ZDE=", "ZA", "ZDEuMg", String(repeating: "A", count: 97), "ZDAx", "ZCsx", "é"])
    func otherTextIsRejected(text: String) {
        let error = #expect(throws: RequestError.self) { try Cursor(text: text, list: Self.list) }
        #expect(error?.code == "invalid_cursor")
        #expect(error?.path == "cursor")
    }

    @Test func aCursorOfAnotherListIsRejected() {
        let text = Cursor(list: Self.list, position: 1).text
        #expect(throws: RequestError.self) { try Cursor(text: text, list: Self.pair) }
        #expect(throws: RequestError.self) { try Cursor(text: text, list: Cursor.List("n")) }
    }

    @Test func onlyAFullPageHasASuccessor() throws {
        let page = ListPageRequest(list: Self.list, limit: 2, after: nil)
        #expect(page.next(after: [5]) { $0 } == nil)
        let next = try #require(page.next(after: [5, 9]) { $0 })
        #expect(try Cursor(text: next, list: Self.list).position == 9)
    }

}
