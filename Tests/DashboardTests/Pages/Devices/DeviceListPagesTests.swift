import Foundation
import PushSender
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import Dashboard

@Suite(.timeLimit(.patience)) struct DeviceListPagesTests {
    private static let home = "/dashboard/apps/\(Vectors.bundleID)"

    @Test func aliceDidNotGetItBecauseOfHerQuietHours() async throws {
        try await withDashboard { provider, browser in
            try await provider.addVectorsApp()
            _ = try await provider.register(Vectors.tokenA, ["user": "alice", "timeZone": "UTC"])
            let preferences: JSONValue = .object(["optOuts": .array(["news"])])
            _ = try await provider.api.put("/v1/apps/\(Vectors.bundleID)/users/alice/preferences", preferences)
            let sent = try await provider.send([
                "to": ["user": "alice"], "name": "Headlines", "alert": "x", "consentCategory": "news",
            ])
            _ = try await provider.finished(sent)
            try await browser.signInAsAdmin(at: provider)
            // The first click is the search, which leads to the user.
            let user = try await browser.get("\(Self.home)/devices?q=alice&by=user")
            #expect(user.path == "\(Self.home)/users/alice")
            #expect(user.contains("Headlines") && user.contains("skipped"))
            #expect(user.contains("The user does not want notifications of this category."))
            // The second one is the notification, which leads to the timeline.
            let link = try #require(user.text.firstMatch(of: #/href="([^"]+/deliveries/[^"]+)"/#))
            let timeline = try await browser.get(String(link.1))
            #expect(timeline.status == 200 && timeline.contains("Step by step"))
            #expect(timeline.contains("opted out of news"))
        }
    }

    @Test func aTestIsSentWithOneClickAndLeadsToItsTimeline() async throws {
        let senders = ScriptedSender()
        try await withDashboard(senders: senders) { provider, browser in
            try await provider.addVectorsApp()
            _ = try await provider.register(Vectors.tokenA, ["user": .string(Browser.markup), "tags": ["beta"]])
            try await browser.signInAsAdmin(at: provider)
            let device = try await browser.get("\(Self.home)/devices/\(Vectors.tokenA)")
            #expect(device.status == 200 && device.contains("beta") && !device.hasMarkup)
            let test = try await browser.post(
                "\(Self.home)/devices/\(Vectors.tokenA)/test",
                ["environment": "sandbox"],
                from: device
            )
            #expect(test.path.hasPrefix("\(Self.home)/deliveries/"), "\(test.status)")
            #expect(test.contains("accepted") && senders.sent.count == 1)
        }
    }

    @Test func anInactiveDeviceIsMadeActiveAgain() async throws {
        let senders = ScriptedSender()
        try await withDashboard(senders: senders) { provider, browser in
            try await provider.addVectorsApp()
            _ = try await provider.register(Vectors.tokenA, ["user": "alice"])
            try await browser.signInAsAdmin(at: provider)
            let path = "\(Self.home)/devices/\(Vectors.tokenA)"
            let removed = try await browser.post("\(path)/remove", ["environment": "sandbox"], from: browser.get(path))
            #expect(removed.status == 200 && removed.contains("This token is not registered"))
            #expect(removed.contains("deleted"))
        }
    }

    @Test func anUnknownDeviceIsNotMadeActive() async throws {
        try await withDashboard { provider, browser in
            try await provider.addVectorsApp()
            _ = try await provider.register(Vectors.tokenA)
            try await browser.signInAsAdmin(at: provider)
            let page = try await browser.get("\(Self.home)/devices")
            for (token, environment) in [(Vectors.tokenA, "production"), (DeviceToken.numbered(9).hex, "sandbox")] {
                let path = "\(Self.home)/devices/\(token)/activate"
                let answer = try await browser.post(path, ["environment": environment, "kind": "alert"], from: page)
                #expect(answer.status == 404, "\(environment)")
            }
            let all = try await provider.api.get("/v1/apps/\(Vectors.bundleID)/devices").json["devices"].elements
            #expect(all.count == 1)
            let known = "\(Self.home)/devices/\(Vectors.tokenA)/activate"
            #expect(try await browser.post(known, ["environment": "sandbox"], from: page).status == 200)
        }
    }

    @Test func aDeliveryOfAnotherAppIsNotFound() async throws {
        try await withDashboard { provider, browser in
            try await provider.addVectorsApp()
            _ = try await provider.register(Vectors.tokenA)
            _ = try await provider.api.post("/v1/apps", ["bundleId": "com.example.Other"])
            try await browser.signInAsAdmin(at: provider)
            let device = try await browser.get("\(Self.home)/devices/\(Vectors.tokenA)")
            let sent = try await browser.post(
                "\(Self.home)/devices/\(Vectors.tokenA)/test",
                ["environment": "sandbox"],
                from: device
            )
            #expect(sent.path.hasPrefix("\(Self.home)/deliveries/"))
            let id = String(sent.path.dropFirst("\(Self.home)/deliveries/".count))
            #expect(try await browser.get("/dashboard/apps/com.example.Other/deliveries/\(id)").status == 404)
        }
    }

    @Test func devicesAreFoundByTheirTokensAndTags() async throws {
        try await withDashboard { provider, browser in
            try await provider.addVectorsApp()
            _ = try await provider.register(Vectors.tokenA, ["installation": "installation-1", "tags": ["beta"]])
            try await browser.signInAsAdmin(at: provider)
            let short = DeviceModel.short(Vectors.tokenA)
            for query in [
                "by=tag&q=beta", "by=token&q=\(Vectors.tokenA.prefix(8))", "by=installation&q=installation-1",
            ] {
                let page = try await browser.get("\(Self.home)/devices?\(query)")
                #expect(page.status == 200 && page.contains(short), "\(query)")
            }
            #expect(
                try await browser.get("\(Self.home)/devices?by=token&q=\(Vectors.tokenA)").path
                    == "\(Self.home)/devices/\(Vectors.tokenA)"
            )
            let none = try await browser.get("\(Self.home)/devices?by=tag&q=nobody")
            #expect(none.contains("No device matches this search."))
            let wrong = try await browser.get("\(Self.home)/devices?by=token&q=zz")
            #expect(wrong.status == 200 && wrong.contains("problem-q"))
        }
    }

    @Test func anAppWithoutDevicesTeachesTheFirstCommand() async throws {
        try await withDashboard { provider, browser in
            try await provider.addVectorsApp()
            try await browser.signInAsAdmin(at: provider)
            #expect(try await browser.get("\(Self.home)/devices").contains("martlet device add TOKEN"))
            let nobody = try await browser.get("\(Self.home)/users/nobody")
            #expect(nobody.status == 200 && nobody.contains("This user has no device"))
            #expect(try await browser.get("/dashboard/apps/com.example.None/devices").status == 404)
        }
    }

    @Test func aViewerChangesNoUserAndNoDevice() async throws {
        try await withDashboard { provider, browser in
            try await provider.addVectorsApp()
            _ = try await provider.register(Vectors.tokenA, ["user": "alice"])
            try await browser.signIn("read", at: provider)
            let user = try await browser.get("\(Self.home)/users/alice")
            #expect(user.status == 200 && !user.contains("action=\"\(Self.home)/users/alice/"))
            let device = "\(Self.home)/devices/\(Vectors.tokenA)"
            for path in [
                "\(Self.home)/users/alice/badge", "\(Self.home)/users/alice/erase", "\(device)/test",
                "\(device)/activate", "\(device)/remove",
            ] {
                let fields = ["environment": "sandbox", "count": "1", "confirm": "alice"]
                #expect(try await browser.post(path, fields, from: user).status == 403, "\(path)")
                #expect(try await browser.post(path, fields.merging(["csrf": "x"]) { $1 }).status == 403)
            }
        }
    }

    @Test func theBadgeIsSetAndAUserErased() async throws {
        try await withDashboard { provider, browser in
            try await provider.addVectorsApp()
            _ = try await provider.register(Vectors.tokenA, ["user": "alice"])
            try await browser.signInAsAdmin(at: provider)
            let path = "\(Self.home)/users/alice"
            let user = try await browser.get(path)
            #expect(try await browser.post("\(path)/badge", ["count": "7"], from: user).contains("<dd>7</dd>"))
            let wrong = try await browser.post("\(path)/badge", ["count": "-1"], from: user)
            #expect(wrong.status == 400 && wrong.contains("problem-count"))
            #expect(try await browser.post("\(path)/erase", ["confirm": "bob"], from: user).status == 400)
            let erased = try await browser.post("\(path)/erase", ["confirm": "alice"], from: user)
            #expect(erased.status == 200 && erased.contains("Erased."))
        }
    }
}
