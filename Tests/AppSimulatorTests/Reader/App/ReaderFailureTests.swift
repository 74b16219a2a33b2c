import AppSimulator
import Foundation
import MartletKit
import PushTypes
import Testing

@Suite("The failures of a reader's work") struct ReaderFailureTests {
    private static let broken = NewsstandError.unavailable(reason: "broken", retryAfter: nil)

    @Test("A step that fails comes again, later each time, and the issue is given up in the end")
    func givenUp() throws {
        var reader = ReaderDriver()
        reader.push("issue7")
        var waits: [Int64] = []
        for _ in 0..<8 {
            reader.forget()
            reader.fail(.catalogue, of: "issue7", .malformed("garbage"))
            guard case .waiting(_, let seconds, "garbage")? = reader.events.first else {
                Issue.record("it does not wait")
                return
            }
            waits.append(seconds)
            reader.advance(by: .seconds(seconds))
            #expect(reader.next == .loadCatalogue(ifChangedFrom: nil))
        }
        #expect(waits == [2, 4, 8, 16, 32, 64, 128, 256])
        reader.fail(.catalogue, of: "issue7", .malformed("garbage"))
        #expect(reader.events.last == .failed(product: "issue7", reason: "garbage"))
        #expect(reader.machine.state.work == nil)
    }

    @Test("An entitlement that cannot be found out is asked for again at the time that the provider names")
    func entitlementUnavailable() throws {
        var reader = ReaderDriver()
        reader.push("issue7")
        reader.catalogue(try Samples.catalogue(["issue7"]))
        let answer = #""entitled":false,"reason":"entitlement_unavailable","message":"down","retryAfterSeconds":60"#
        try reader.entitle("issue7", answer)
        #expect(reader.events.last == .waiting(product: "issue7", seconds: 60, reason: "down"))
        reader.forget()
        reader.advance(by: .seconds(59))
        #expect(reader.actions.contains { if case .checkEntitlement = $0 { true } else { false } } == false)
        reader.advance(by: .seconds(1))
        #expect(reader.next == .checkEntitlement(product: "issue7"))
        try reader.entitle("issue7")
        #expect(reader.next == .requestGrant(product: "issue7"))
    }

    @Test("A provider that is busy is obeyed: to wait is no failure, and the day is not used up by it")
    func busy() throws {
        var reader = ReaderDriver()
        try reader.beginDownload("issue7")
        let file = try Samples.grant("issue7").file
        for _ in 0..<20 {
            reader.forget()
            reader.fail(.download, of: "issue7", .unavailable(reason: "busy", retryAfter: .seconds(600)))
            #expect(reader.events == [.waiting(product: "issue7", seconds: 600, reason: "busy")])
            reader.advance(by: .seconds(599))
            #expect(!reader.actions.contains(.download(product: "issue7", file)))
            reader.advance(by: .seconds(1))
            #expect(reader.next == .download(product: "issue7", file))
        }
        try reader.restart()
        #expect(reader.next == .requestGrant(product: "issue7"))
        try reader.grant("issue7")
        reader.fail(.download, of: "issue7", .noSpace)
        // Nothing has arrived: the next issue may be downloaded on the same day.
        reader.push("issue8")
        #expect(reader.next == .loadCatalogue(ifChangedFrom: "\"1\""))
    }

    @Test("A provider that is busy for more than a day is a failure like another")
    func busyForEver() throws {
        var reader = ReaderDriver()
        try reader.beginDownload("issue7")
        let busy = NewsstandError.unavailable(reason: "busy", retryAfter: .seconds(3600))
        for _ in 0..<(24 + 8) {
            reader.fail(.download, of: "issue7", busy)
            reader.advance(by: .seconds(3600))
        }
        #expect(reader.machine.state.work?.product == "issue7")
        reader.fail(.download, of: "issue7", busy)
        #expect(reader.events.last == .failed(product: "issue7", reason: "busy"))
        #expect(reader.machine.state.work == nil)
    }

    @Test("A provider that asks for no time at all does not get a request at once")
    func busyForNothing() throws {
        var reader = ReaderDriver()
        try reader.beginDownload("issue7")
        reader.fail(.download, of: "issue7", .unavailable(reason: "busy", retryAfter: .milliseconds(1)))
        #expect(reader.events.last == .waiting(product: "issue7", seconds: 2, reason: "busy"))
    }

    @Test("A broken download goes on with what has arrived, and progress makes its failures good")
    func resumed() throws {
        var reader = ReaderDriver()
        try reader.beginDownload("issue7")
        let file = try Samples.grant("issue7").file
        for round in 1...20 {
            reader.receive(Int64(round) * 10, of: "issue7")
            reader.fail(.download, of: "issue7", Self.broken)
            reader.advance(by: .seconds(2))
            #expect(reader.next == .download(product: "issue7", file))
        }
        #expect(reader.machine.state.issue("issue7")?.received == 200)
        reader.finish("issue7")
        #expect(reader.machine.state.issue("issue7")?.status == .downloaded)
    }

    @Test("A download that is broken off by the end of the process goes on in the next, as the same one of the day")
    func resumedAfterRestart() throws {
        var reader = ReaderDriver()
        try reader.beginDownload("issue7")
        reader.receive(400, of: "issue7")
        try reader.restart()
        #expect(reader.next == .requestGrant(product: "issue7"))
        try reader.grant("issue7")
        #expect(reader.events.last == .downloading(product: "issue7", from: 400, of: 1000))
        reader.finish("issue7")
        #expect(reader.machine.state.issue("issue7")?.isMarked == true)
    }

    @Test("A download is paused without Wi-Fi, also over a restart, and its late end does not count")
    func paused() throws {
        var reader = ReaderDriver()
        try reader.beginDownload("issue7")
        reader.network(.cellular)
        #expect(reader.next == .stop && reader.events.last == .paused(product: "issue7"))
        reader.forget()
        reader.finish("issue7")
        reader.fail(.download, of: "issue7", Self.broken)
        #expect(reader.actions == [])
        reader.network(.wifi)
        let file = try Samples.grant("issue7").file
        #expect(reader.next == .download(product: "issue7", file))
        try reader.restart(network: .none)
        #expect(reader.next == nil)
        reader.network(.wifi)
        #expect(reader.next == .requestGrant(product: "issue7"))
    }

    @Test("A file with another hash is downloaded once more from the beginning, and then given up")
    func wrongContent() throws {
        var reader = ReaderDriver()
        try reader.beginDownload("issue7")
        let file = try Samples.grant("issue7").file
        reader.receive(1000, of: "issue7")
        reader.forget()
        reader.fail(.download, of: "issue7", .wrongContent)
        let event = ReaderEvent.downloading(product: "issue7", from: 0, of: 1000)
        #expect(reader.actions == [.removePart(file), .report(event), .download(product: "issue7", file)])
        #expect(reader.machine.state.issue("issue7")?.received == 0)
        reader.forget()
        reader.fail(.download, of: "issue7", .wrongContent)
        #expect(reader.actions.first == .removePart(file))
        #expect(reader.machine.state.issue("issue7")?.status == .failed && reader.machine.state.work == nil)
    }

    @Test("A full disk ends the work and leaves nothing of it")
    func fullDisk() throws {
        var reader = ReaderDriver()
        try reader.beginDownload("issue7")
        reader.forget()
        reader.fail(.download, of: "issue7", .noSpace)
        let file = try Samples.grant("issue7").file
        #expect(reader.actions.first == .removePart(file))
        #expect(reader.events.last == .failed(product: "issue7", reason: "there is no space left for the file"))
    }

    @Test("An address that has expired is replaced by another one")
    func expiredAddress() throws {
        var reader = ReaderDriver()
        try reader.beginDownload("issue7")
        reader.receive(300, of: "issue7")
        reader.fail(.download, of: "issue7", .refused(code: "address_expired", message: ""))
        reader.advance(by: .seconds(2))
        #expect(reader.next == .requestGrant(product: "issue7"))
        reader.forget()
        // The publisher has replaced the file meanwhile.
        try reader.grant("issue7", hash: "b")
        let file = try Samples.grant("issue7").file
        #expect(reader.actions.first == .removePart(file))
        #expect(reader.events.last == .downloading(product: "issue7", from: 0, of: 1000))
    }

    @Test("An issue that is withdrawn during its download is removed", arguments: ["issue_withdrawn", "no_such_issue"])
    func withdrawnMeanwhile(code: String) throws {
        var reader = ReaderDriver()
        try reader.beginDownload("issue7")
        reader.fail(.download, of: "issue7", .refused(code: "no_such_file", message: ""))
        reader.advance(by: .seconds(2))
        reader.forget()
        reader.fail(.grant, of: "issue7", .refused(code: code, message: ""))
        let file = try Samples.grant("issue7").file
        #expect(reader.actions.contains(.removePart(file)))
        #expect(reader.skipped == ["withdrawn"] && reader.machine.state.work == nil)
    }

    @Test("A cover that cannot be loaded keeps nobody from the issue")
    func noCover() throws {
        var reader = ReaderDriver()
        reader.push("issue7")
        reader.catalogue(try Samples.catalogue(["issue7"], cover: true))
        try reader.entitle("issue7")
        reader.fail(.cover, of: "issue7", .wrongContent)
        #expect(reader.next == .requestGrant(product: "issue7"))
    }

    @Test("Results of steps that are not under way change nothing")
    func strayResults() throws {
        var reader = ReaderDriver()
        reader.finish("issue7")
        try reader.entitle("issue7")
        try reader.grant("issue7")
        reader.fail(.download, of: "issue7", Self.broken)
        #expect(reader.actions == [])
        try reader.beginDownload("issue7")
        reader.forget()
        try reader.entitle("issue7")
        reader.finish("issue8")
        #expect(reader.actions == [])
    }
}
