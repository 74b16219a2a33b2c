import ProviderModel
import PushSupport
import PushTypes
import Testing

@testable import PushProvider

/// The files that are known to have lost their content.
@Suite struct LostFilesTests {
    private func file(_ name: String) throws -> UsedFile {
        let hash = try #require(ContentHash(hex: String(repeating: name, count: 64)))
        let created = Timestamp(milliseconds: 0)
        let record = FileRecord(hash: hash, size: 1, contentType: "text/plain", name: name, createdAt: created)
        return UsedFile(app: 1, file: record)
    }

    /// The check may have looked for the file before that.
    @Test func aFileThatIsNotedDuringACheckStaysKnown() throws {
        let (one, other) = (try self.file("a"), try self.file("b"))
        var files = LostFiles()
        files.beginCheck()
        files.note(one)
        files.endCheck([other])
        #expect(files.files == [one, other])
        // The next one has looked for it.
        files.beginCheck()
        files.endCheck([])
        #expect(files.files.isEmpty)
    }

    @Test func aFileThatIsThereAgainIsForgotten() throws {
        let one = try self.file("a")
        var files = LostFiles()
        files.beginCheck()
        files.note(one)
        files.remove([one], unlessNotedAfter: 1)
        files.endCheck([])
        #expect(files.files.isEmpty)
    }

    /// It was found, then lost, and a reader has noticed.
    @Test func aFileThatIsNotedAfterItWasFoundStaysKnown() throws {
        let one = try self.file("a")
        var files = LostFiles()
        files.note(one)
        let notes = files.notes
        files.note(one)
        files.remove([one], unlessNotedAfter: notes)
        #expect(files.files == [one])
    }
}
