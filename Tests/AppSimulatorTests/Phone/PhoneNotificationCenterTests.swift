import Foundation
import MartletKit
import PushTypes
import Testing

@testable import AppSimulator

@Suite("The notification centre of a phone") struct PhoneNotificationCenterTests {
    private var phone = Phone()

    @Test("An alert is in the list, lights the screen and sounds")
    mutating func alert() throws {
        let events = self.phone.receive(
            #"{"aps":{"alert":{"title":"T","subtitle":"S","body":"B"},"sound":"default","thread-id":"t","category":"c"}}"#
        )
        let entry = try self.phone.center.entry(nil)
        #expect(events == [.shown(entry, .init(replaces: false, lightsScreen: true, sound: "default"))])
        #expect([entry.title, entry.subtitle, entry.body, entry.thread, entry.category] == ["T", "S", "B", "t", "c"])
        #expect(entry.number == 1 && entry.level == .active)
    }

    @Test("A collapse id replaces, keeps the number and moves to the end")
    mutating func collapse() throws {
        _ = self.phone.receive(#"{"aps":{"alert":"1"}}"#, id: "A", collapse: "c")
        _ = self.phone.receive(#"{"aps":{"alert":"other"}}"#, id: "B")
        let events = self.phone.receive(#"{"aps":{"alert":"2"}}"#, id: "C", collapse: "c")
        #expect(events.appearances == [.init(replaces: true, lightsScreen: true, sound: nil)])
        #expect(self.phone.bodies == ["other", "2"])
        #expect(try self.phone.center.entry(nil).number == 1)
    }

    @Test("The same apns-id replaces without light or sound")
    mutating func sameID() {
        _ = self.phone.receive(#"{"aps":{"alert":"1","sound":"s"}}"#, id: "A")
        let events = self.phone.receive(#"{"aps":{"alert":"1","sound":"s"}}"#, id: "A")
        #expect(events.appearances == [.init(replaces: true, lightsScreen: false, sound: nil)])
        #expect(self.phone.bodies == ["1"])
    }

    @Test("A push that was opened does not come back when it is delivered again")
    mutating func repeated() throws {
        _ = self.phone.receive(#"{"aps":{"alert":"1"}}"#, id: "A")
        _ = try self.phone.center.take(nil)
        #expect(self.phone.receive(#"{"aps":{"alert":"1"}}"#, id: "A").reasons == [.repeated])
        #expect(self.phone.bodies.isEmpty)
    }

    @Test("Pushes without ids never replace each other")
    mutating func withoutIDs() {
        for _ in 1...3 { _ = self.phone.receive(#"{"aps":{"alert":"x"}}"#) }
        #expect(self.phone.bodies.count == 3)
    }

    @Test("Threads stand together, that with the newest notification first")
    mutating func threads() {
        for (body, thread) in [("1", "a"), ("2", "b"), ("3", "a"), ("4", "")] {
            let member = thread.isEmpty ? "" : #","thread-id":"\#(thread)""#
            _ = self.phone.receive(#"{"aps":{"alert":"\#(body)"\#(member)}}"#)
        }
        #expect(self.phone.center.groups.map(\.thread) == [nil, "a", "b"])
        #expect(self.phone.center.groups.map { $0.entries.map(\.body) } == [["4"], ["3", "1"], ["2"]])
    }

    @Test("The badge is what payloads and the app say")
    mutating func badge() {
        #expect(self.phone.receive(#"{"aps":{"badge":3}}"#) == [.badge(3)])
        #expect(self.phone.receive(#"{"aps":{"badge":3}}"#) == [])
        #expect(
            self.phone.receive(#"{"aps":{"alert":"x"}}"#).contains { if case .badge = $0 { true } else { false } }
                == false
        )
        #expect(self.phone.center.badge == 3)
        #expect(self.phone.center.setBadge(1) == [.badge(1)])
        #expect(self.phone.receive(#"{"aps":{"badge":0}}"#) == [.badge(0)])
    }

    @Test("A background push wakes the app and shows nothing")
    mutating func background() {
        let events = self.phone.receive(#"{"aps":{"content-available":1},"n":1}"#, type: "background")
        #expect(events.wakes == 1 && events.count == 1 && self.phone.bodies.isEmpty)
        let wrong = self.phone.receive(#"{"aps":{"content-available":1,"alert":"x","badge":5}}"#, type: "background")
        #expect(wrong.reasons == [.background] && wrong.wakes == 1)
        #expect(self.phone.bodies.isEmpty && self.phone.center.badge == 0)
    }

    @Test("An alert with content-available is shown and wakes the app")
    mutating func alertThatWakes() {
        let events = self.phone.receive(#"{"aps":{"content-available":1,"alert":"x"}}"#)
        #expect(events.wakes == 1 && events.appearances.count == 1)
    }

    @Test("A passive notification neither lights the screen nor sounds")
    mutating func levels() {
        let passive = self.phone.receive(#"{"aps":{"alert":"x","sound":"s","interruption-level":"passive"}}"#)
        #expect(passive.appearances == [.init(replaces: false, lightsScreen: false, sound: nil)])
        for level in ["active", "time-sensitive", "critical"] {
            let events = self.phone.receive(#"{"aps":{"alert":"x","sound":"s","interruption-level":"\#(level)"}}"#)
            #expect(events.appearances == [.init(replaces: false, lightsScreen: true, sound: "s")])
        }
        #expect(self.phone.receive(#"{"aps":{"alert":"x","interruption-level":"loud"}}"#).problems.count == 1)
    }

    @Test("Without the permission nothing is shown, and a background push still wakes")
    mutating func denied() {
        self.phone.center.capabilities = [.background]
        let events = self.phone.receive(#"{"aps":{"alert":"x","badge":2,"sound":"s","content-available":1}}"#)
        #expect(events.reasons == [.alertsDenied] && events.wakes == 1)
        #expect(self.phone.bodies.isEmpty && self.phone.center.badge == 0)
        self.phone.center.capabilities = []
        #expect(self.phone.receive(#"{"aps":{"content-available":1}}"#, type: "background").reasons == [.wakingDenied])
    }

    @Test("Without sound or badge the rest is there")
    mutating func partlyDenied() {
        self.phone.center.capabilities = [.alert]
        let events = self.phone.receive(#"{"aps":{"alert":"x","badge":2,"sound":"s"}}"#)
        #expect(events.appearances == [.init(replaces: false, lightsScreen: true, sound: nil)])
        #expect(self.phone.center.badge == 0)
    }

    @Test("Badge and sound are permissions of their own: they come without the alert")
    mutating func onlySoundAndBadge() {
        self.phone.center.capabilities = [.sound, .badge]
        let events = self.phone.receive(#"{"aps":{"alert":"x","badge":2,"sound":"s"}}"#)
        #expect(events.reasons == [.alertsDenied] && events.contains(.sound("s")) && self.phone.bodies.isEmpty)
        #expect(self.phone.center.badge == 2)
        #expect(self.phone.receive(#"{"aps":{"sound":"t"}}"#) == [.sound("t")])
        self.phone.center.capabilities = [.badge]
        #expect(!self.phone.receive(#"{"aps":{"alert":"x","sound":"s"}}"#).contains(.sound("s")))
    }

    @Test("The extension runs for an alert with text that may be changed, and only where it would be shown")
    mutating func extensionRuns() {
        func arrives(_ aps: String, type: String? = "alert", _ phone: Phone) -> Bool {
            let push = PhonePush(pushType: type, payload: Data(#"{"aps":{\#(aps)}}"#.utf8))
            if case .runExtension = phone.center.arrived(push) { return true } else { return false }
        }
        #expect(arrives(#""alert":"x","mutable-content":1"#, self.phone))
        #expect(!arrives(#""alert":"x""#, self.phone))
        #expect(!arrives(#""badge":1,"mutable-content":1"#, self.phone))
        #expect(!arrives(#""alert":"","mutable-content":1"#, self.phone))
        #expect(!arrives(#""alert":"x","mutable-content":1"#, type: "background", self.phone))
        self.phone.center.capabilities = []
        #expect(!arrives(#""alert":"x","mutable-content":1"#, self.phone))
    }

    @Test("What the extension makes of a push is shown in its place")
    mutating func extensionChanges() throws {
        let push = PhonePush(apnsID: "A", payload: Data(#"{"aps":{"alert":"sealed","mutable-content":1}}"#.utf8))
        guard case .runExtension = self.phone.center.arrived(push) else { throw PhoneError("no extension") }
        var content = PushContent(payload: Data(#"{"aps":{"alert":"clear"}}"#.utf8))
        content.attachment = "image.png"
        _ = self.phone.center.deliver(content, of: push, now: self.phone.now)
        let entry = try self.phone.center.entry(nil)
        #expect(entry.body == "clear" && entry.attachment == "image.png" && entry.apnsID == "A")
    }

    @Test("Opening and clearing remove the notification; one that is not there is an error")
    mutating func take() throws {
        for body in ["1", "2", "3"] { _ = self.phone.receive(#"{"aps":{"alert":"\#(body)"}}"#) }
        #expect(try self.phone.center.take(nil).body == "3")
        #expect(try self.phone.center.take(1).body == "1")
        let error = #expect(throws: PhoneError.self) { try self.phone.center.take(1) }
        #expect(error?.description == "there is no notification 1 in the list, only 2")
        _ = try self.phone.center.take(nil)
        #expect(throws: PhoneError("there is no notification in the list")) { try self.phone.center.take(nil) }
    }

    @Test("Actions are those of the category, with a text where one is asked for")
    mutating func actions() throws {
        let file = #"[{"id":"message","actions":[{"id":"REPLY","input":true},{"id":"DELETE"}]}]"#
        let categories = try NotificationCategory.list(parsing: Data(file.utf8))
        _ = self.phone.receive(#"{"aps":{"alert":"1","category":"message"}}"#)
        _ = self.phone.receive(#"{"aps":{"alert":"2","category":"other"}}"#)
        _ = self.phone.receive(#"{"aps":{"alert":"3"}}"#)
        for (number, id, text, expected) in [
            (1, "FLY", nil, "category message has no action FLY, only REPLY, DELETE"),
            (1, "REPLY", nil, "the action REPLY needs a text"), (1, "DELETE", "x", "the action DELETE takes no text"),
            (2, "REPLY", nil, "the app has registered no category other: add it to the file of --categories"),
            (3, "REPLY", nil, "notification 3 has no category, and so no actions"),
        ] as [(Int, String, String?, String)] {
            let error = #expect(throws: PhoneError.self) {
                _ = try self.phone.center.act(on: number, id: id, text: text, categories: categories)
            }
            #expect(error?.description == expected)
        }
        #expect(self.phone.bodies.count == 3)
        let done = try self.phone.center.act(on: 1, id: "REPLY", text: "Yes", categories: categories)
        #expect(done.entry.body == "1" && done.action.input == true)
        #expect(self.phone.bodies == ["2", "3"])
    }

    @Test("A file of categories that is none says what one is", arguments: ["", "{}", #"[{"id":1}]"#, "[1]"])
    func categories(text: String) {
        #expect(throws: PhoneError.self) { try NotificationCategory.list(parsing: Data(text.utf8)) }
    }

    @Test("A file of categories names each once")
    func repeatedCategories() {
        for text in [
            #"[{"id":"a","actions":[]},{"id":"a","actions":[]}]"#, #"[{"id":"a","actions":[{"id":"X"},{"id":"X"}]}]"#,
        ] { #expect(throws: PhoneError.self) { try NotificationCategory.list(parsing: Data(text.utf8)) } }
    }

    @Test("An app that is removed takes everything along, and numbers go on")
    mutating func removal() throws {
        _ = self.phone.receive(#"{"aps":{"alert":"1","badge":4}}"#, id: "A")
        self.phone.center.capabilities = []
        self.phone.center.removeApp()
        #expect(
            self.phone.bodies.isEmpty && self.phone.center.badge == 0
                && self.phone.center.capabilities == PhoneNotificationCenter.allCapabilities
        )
        _ = self.phone.receive(#"{"aps":{"alert":"2"}}"#, id: "A")
        #expect(try self.phone.center.entry(nil).number == 2)
    }

    @Test("The phone's state survives being written and read")
    mutating func coding() throws {
        _ = self.phone.receive(#"{"aps":{"alert":"1","badge":4},"n":{"a":[1,2.5,null,true]}}"#, id: "A", collapse: "c")
        _ = self.phone.receive(
            #"{"aps":{"event":"start","timestamp":1,"attributes-type":"T","attributes":{},"alert":"x"}}"#,
            type: "liveactivity"
        )
        let data = try JSONEncoder().encode(self.phone.center)
        #expect(try JSONDecoder().decode(PhoneNotificationCenter.self, from: data) == self.phone.center)
    }

    @Test("The list is bounded")
    mutating func bounds() {
        for number in 1...(PhoneNotificationCenter.maximumEntries + 5) {
            _ = self.phone.receive(#"{"aps":{"alert":"\#(number)"}}"#, id: "\(number)")
        }
        #expect(self.phone.bodies.count == PhoneNotificationCenter.maximumEntries)
        #expect(self.phone.bodies.first == "6")
    }
}
