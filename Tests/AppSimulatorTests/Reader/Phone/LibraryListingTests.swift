import AppSimulator
import Foundation
import PushSupport
import PushTesting
import PushTypes
import Testing

@Suite("The library of a reader") struct LibraryListingTests {
    @Test("The table has the mark, the state, the size and the grounds of each issue")
    func table() throws {
        var reader = ReaderDriver()
        try reader.download("issue7", of: ["issue7", "issue6"])
        let page = LibraryListing(reader.machine.state)
        #expect(
            page.lines == [
                "   No.  Title         Date        State             Size    Entitled by",
                "●  2    Title issue7  2026-11-28  here              1.0 kB  free",
                "   1    Title issue6  2026-11-27  in the catalogue",
            ]
        )
        #expect(page.json["issues"].elements.map { $0["isMarked"] } == [true, false])
        #expect(LibraryListing(ReaderState(deviceID: UUID())).lines == ["(no issues)"])
    }

    @Test(
        "Sizes are readable at every magnitude",
        arguments: [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (734_003_200, "734.0 MB")]
    )
    func sizes(bytes: Int, text: String) { #expect(ByteText.of(Int64(bytes)) == text) }
}
