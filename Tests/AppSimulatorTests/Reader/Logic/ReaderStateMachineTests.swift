import AppSimulator
import Foundation
import MartletKit
import PushTesting
import PushTypes
import Testing

@Suite("The decisions of a reader") struct ReaderStateMachineTests {
    private static let hour: Duration = .seconds(3600)

    @Test("A push leads to catalogue, entitlement, cover, address and file, and then to the mark")
    func wholeWay() throws {
        var reader = ReaderDriver()
        reader.push("issue7", id: 1)
        #expect(reader.next == .loadCatalogue(ifChangedFrom: nil))
        reader.catalogue(try Samples.catalogue(["issue7", "issue6"], cover: true))
        #expect(reader.next == .checkEntitlement(product: "issue7"))
        try reader.entitle("issue7")
        guard case .loadCover("issue7", let cover)? = reader.next else {
            Issue.record("no cover is loaded")
            return
        }
        reader.take(reader.machine.coverLoaded("issue7", cover))
        #expect(reader.next == .requestGrant(product: "issue7"))
        let grant = try Samples.grant("issue7")
        try reader.grant("issue7")
        #expect(reader.next == .download(product: "issue7", grant.file))
        reader.receive(400, of: "issue7")
        reader.finish("issue7")
        let issue = try #require(reader.machine.state.issue("issue7"))
        #expect(issue.status == .downloaded && issue.isMarked && issue.received == 1000 && issue.entitledBy == "free")
        #expect(reader.machine.state.issue("issue6")?.status == .listed)
        #expect(reader.machine.state.work == nil)
        reader.take(reader.machine.opened("issue7"))
        #expect(reader.machine.state.issue("issue7")?.isMarked == false)
        #expect(reader.events.last == .opened(product: "issue7"))
    }

    @Test("An issue that is not here cannot be opened")
    func openedTooEarly() throws {
        var reader = ReaderDriver()
        try reader.beginDownload("issue7")
        #expect(reader.machine.opened("issue7") == [] && reader.machine.opened("none") == [])
    }

    // MARK: - Once a day

    @Test("The next download begins after a day, or an hour less", arguments: [(22, 0), (23, 1), (24, 1), (25, 1)])
    func onceADay(hours: Int, downloads: Int) throws {
        var reader = ReaderDriver()
        try reader.download("issue7")
        reader.forget()
        reader.advance(by: Self.hour * hours)
        reader.push("issue8")
        #expect(reader.skipped == (downloads == 0 ? ["once_a_day"] : []))
        #expect((reader.next != nil) == (downloads == 1))
    }

    @Test("The day goes on over restarts")
    func onceADayOverRestarts() throws {
        var reader = ReaderDriver()
        try reader.download("issue7")
        reader.time.advance(by: Self.hour * 10)
        try reader.restart()
        reader.push("issue8")
        #expect(reader.skipped == ["once_a_day"] && reader.next == nil)
        reader.time.advance(by: Self.hour * 13)
        try reader.restart()
        reader.push("issue8")
        #expect(reader.next == .loadCatalogue(ifChangedFrom: "\"1\""))
    }

    @Test("A wall clock that is set forward makes no second day")
    func clockSetForward() throws {
        var reader = ReaderDriver()
        try reader.download("issue7")
        reader.forget()
        reader.time.step(by: Self.hour * 48)
        reader.push("issue8")
        #expect(reader.skipped == ["once_a_day"])
    }

    @Test("After a wall clock that was set back the wait has an end, of a day at most")
    func clockSetBack() throws {
        var reader = ReaderDriver()
        try reader.download("issue7")
        reader.time.step(by: Self.hour * -24 * 365)
        try reader.restart()
        reader.push("issue8")
        #expect(reader.skipped == ["once_a_day"])
        reader.time.advance(by: Self.hour * 23)
        reader.push("issue8")
        #expect(reader.next == .loadCatalogue(ifChangedFrom: "\"1\""))
    }

    @Test("What does not come to a download leaves the day's download")
    func unusedDay() throws {
        var reader = ReaderDriver()
        reader.push("issue7")
        reader.catalogue(try Samples.catalogue(["issue7"]))
        try reader.entitle("issue7", #""entitled":false,"reason":"not_entitled","message":"no""#)
        #expect(reader.skipped == ["not_entitled"])
        reader.push("issue8")
        #expect(reader.next == .loadCatalogue(ifChangedFrom: "\"1\""))
    }

    @Test("The day counts from the first byte, and a download that was refused leaves it")
    func firstByte() throws {
        var reader = ReaderDriver()
        try reader.beginDownload("issue7")
        reader.fail(.download, of: "issue7", .noSpace)
        reader.push("issue8")
        #expect(reader.next == .loadCatalogue(ifChangedFrom: "\"1\""))
        reader.catalogue(try Samples.catalogue(["issue8"], tag: "\"2\""))
        try reader.entitle("issue8")
        try reader.grant("issue8")
        reader.receive(1, of: "issue8")
        // It lasts two hours.
        reader.time.advance(by: Self.hour * 2)
        reader.finish("issue8")
        reader.time.advance(by: Self.hour * 20)
        reader.push("issue9")
        #expect(reader.skipped == ["once_a_day"])
        reader.time.advance(by: Self.hour)
        reader.push("issue9")
        #expect(reader.next == .loadCatalogue(ifChangedFrom: "\"2\""))
    }

    // MARK: - Pushes without effect

    @Test(
        "A push on another network than Wi-Fi is lost, and none comes after it",
        arguments: [ReaderNetwork.cellular, .none]
    )
    func lost(network: ReaderNetwork) throws {
        var reader = ReaderDriver(network: network)
        reader.push("issue7", id: 5)
        #expect(reader.skipped == ["not_on_wifi"] && reader.next == nil)
        reader.network(.wifi)
        #expect(reader.next == nil)
        // The push service may deliver it again.
        reader.push("issue7", id: 5)
        #expect(reader.next == .loadCatalogue(ifChangedFrom: nil))
    }

    @Test("A product for development is only for builds of that kind, in the catalogue too")
    func development() throws {
        var reader = ReaderDriver()
        reader.push("dev_test.issue9")
        #expect(reader.skipped == ["development_only"])
        reader.push("issue7")
        reader.catalogue(try Samples.catalogue(["dev_test.issue9", "issue7"]))
        #expect(reader.next == .checkEntitlement(product: "issue7"))
        #expect(reader.machine.state.library.map(\.product) == ["issue7"])
        var rules = ReaderRules()
        rules.isDevelopment = true
        var developer = ReaderDriver(rules: rules)
        developer.push("dev_test.issue9")
        #expect(developer.next == .loadCatalogue(ifChangedFrom: nil))
    }

    @Test("A repeated push, an issue that is here and one that is under way have no effect")
    func repeated() throws {
        var reader = ReaderDriver()
        reader.push("issue7", id: 1)
        reader.push("issue7", id: 1)
        reader.push("issue7", id: 2)
        #expect(reader.skipped == ["repeated", "under_way"])
        reader.catalogue(try Samples.catalogue(["issue7"]))
        try reader.entitle("issue7")
        try reader.grant("issue7")
        reader.finish("issue7")
        reader.push("issue7", id: 3)
        #expect(reader.skipped.last == "already_downloaded")
    }

    @Test("Only the newest issue of its publication is downloaded")
    func newestOnly() throws {
        let other = "3F0E0000-0000-4000-8000-000000000002"
        var reader = ReaderDriver()
        reader.push("issue6")
        reader.catalogue(try Samples.catalogue(["other9", "issue7", "issue6"], publications: ["other9": other]))
        #expect(reader.skipped == ["not_newest"])
        reader.push("issue7")
        reader.catalogue(nil)
        #expect(reader.next == .checkEntitlement(product: "issue7"))
    }

    @Test("Of two pushes at once the newer issue is downloaded, and one download is that of the day")
    func twoAtOnce() throws {
        var reader = ReaderDriver()
        reader.push("issue6")
        reader.push("issue7")
        reader.catalogue(try Samples.catalogue(["issue7", "issue6"]))
        #expect(reader.skipped == ["not_newest"])
        #expect(reader.next == .loadCatalogue(ifChangedFrom: "\"1\""))
        reader.catalogue(nil)
        try reader.entitle("issue7")
        try reader.grant("issue7")
        reader.receive(1, of: "issue7")
        reader.push("issue8")
        #expect(reader.skipped.last == "once_a_day")
        reader.finish("issue7")
        #expect(reader.machine.state.work == nil)
    }

    @Test("Pushes that wait are bounded")
    func waitingPushes() throws {
        var reader = ReaderDriver()
        for number in 1...12 { reader.push("issue\(number)", id: Int64(number)) }
        #expect(reader.skipped == ["busy", "busy", "busy"])
    }

    @Test("An issue that is not in the catalogue was withdrawn; one that is here stays, and is shown so")
    func withdrawn() throws {
        var reader = ReaderDriver()
        try reader.download("issue7")
        reader.advance(by: Self.hour * 24)
        reader.push("issue8")
        reader.catalogue(try Samples.catalogue(["issue6"]))
        #expect(reader.skipped == ["withdrawn"])
        let issue = try #require(reader.machine.state.issue("issue7"))
        #expect(issue.isWithdrawn && issue.status == .downloaded)
    }

    @Test("An older issue may be on the next page of the catalogue, and was not withdrawn")
    func nextPage() throws {
        var reader = ReaderDriver()
        try reader.download("issue1")
        reader.catalogue(try Samples.catalogue(["issue2"], next: "cursor"))
        #expect(reader.machine.state.issue("issue1")?.isWithdrawn == false)
        reader.catalogue(try Samples.catalogue(["issue2", "issue0"], next: "cursor"))
        #expect(reader.machine.state.issue("issue1")?.isWithdrawn == true)
    }
}
