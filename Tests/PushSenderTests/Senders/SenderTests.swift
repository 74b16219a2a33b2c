import NIOCore
import PushTesting
import PushTypes
import PushWire
import Testing

@testable import PushSender

@Suite(.timeLimit(.patience)) struct SenderTests {
    @Test func manyPushesHaveTheirOutcomesInOrder() async throws {
        let script: ScriptedService.Script = { _, event in
            guard case .request(let request) = event else { return ScriptedService.greeting }
            // Every third is refused.
            return request.number % 3 == 2
                ? [.reply(status: 410, body: #"{"reason":"Unregistered","timestamp":5}"#)]
                : [.reply(headers: [("apns-id", request.id)])]
        }
        try await withSender(script: script) { sender, service in
            let outcomes = await sender.send(makePushes(1000))
            #expect(outcomes.count == 1000)
            for (index, outcome) in outcomes.enumerated() {
                switch outcome {
                case .accepted(let accepted): #expect(accepted.id == "push-\(index)" && index % 3 != 2)
                case .rejected(let rejection): #expect(rejection.reason == .unregistered && index % 3 == 2)
                default: Issue.record("\(index): \(outcome)")
                }
            }
            #expect(service.connections == 1)
            #expect(service.requests.map(\.id) == (0..<1000).map { "push-\($0)" })
            #expect(service.requests.allSatisfy { $0.body == Array(Vectors.payload.utf8) })
        }
    }

    @Test func outcomesComeAsTheyComeToo() async throws {
        try await withSender(script: ScriptedService.always200) { sender, _ in
            var seen: Set<Int> = []
            for await result in sender.results(of: makePushes(500)) {
                #expect(result.outcome.kind == "accepted")
                #expect(seen.insert(result.index).inserted)
            }
            #expect(seen.count == 500)
        }
    }

    @Test func singlePushesFromManyTasksShareTheConnection() async throws {
        try await withSender(script: ScriptedService.always200) { sender, service in
            await withTaskGroup(of: String.self) { group in
                for push in makePushes(300) { group.addTask { await sender.send(push).kind } }
                for await kind in group { #expect(kind == "accepted") }
            }
            #expect(service.connections == 1)
        }
    }

    @Test(arguments: ["a\nb", "\u{7f}", " a", "a "])
    func aHeaderThatHTTP2DoesNotAllowConcernsItsPushAlone(collapseID: String) async throws {
        try await withSender(script: ScriptedService.always200) { sender, service in
            var pushes = makePushes(2)
            pushes[0].notification.collapseID = collapseID
            let outcomes = await sender.send(pushes)
            guard case .notSent(let failure)? = outcomes.first else {
                Issue.record("\(outcomes)")
                return
            }
            #expect(failure.isOfPush)
            #expect(outcomes.last?.kind == "accepted")
            #expect(service.requests.count == 1)
        }
    }

    @Test func nothingToSendNeedsNoConnection() async throws {
        try await withSender(script: ScriptedService.always200) { sender, service in
            #expect(await sender.send([Push]()).isEmpty)
            for await _ in sender.results(of: []) { Issue.record("a result of nothing") }
            #expect(service.connections == 0)
        }
    }

    @Test func moreConnectionsOpenWhenTheStreamsAreUsedUp() async throws {
        let script: ScriptedService.Script = { _, event in
            guard case .request(let request) = event else {
                return [.settings([(.maximumConcurrentStreams, 2)]), .window(1_000_000)]
            }
            // After its first reply each connection keeps one stream busy for ever.
            return request.number == 1 ? [] : [.reply()]
        }
        try await withGrowingLimit { limit in
            try await withSender(script: script) {
                $0.maximumConnections = 3
                $0.responseTimeout = limit
            } _: { sender, service in
                let pushes = makePushes(400)
                let outcomes = await sender.send(pushes)
                let kinds = kinds(outcomes)
                #expect(kinds["accepted", default: 0] + kinds["unknown", default: 0] == 400)
                // Another connection takes the place of one whose reply is late.
                let busy = Set(service.requests.filter { $0.number == 1 }.map(\.id))
                let late = zip(pushes, outcomes).filter { push, outcome in
                    outcome.kind == "unknown" && !busy.contains(push.notification.id)
                }
                guard late.isEmpty else { return false }
                #expect(service.connections <= 3)
                return service.connections > 1
            }
        }
    }

    @Test func aFullQueueRejects() async throws {
        let service = try await ScriptedService.start { _, _ in [] }
        let sender = try makeSender(to: service.endpoint) { $0.maximumWaiting = 10 }
        async let first = sender.send(makePushes(8))
        try await eventually { sender.statistics.waiting >= 8 }
        #expect(kinds(await sender.send(makePushes(3))) == ["not sent": 3])
        await sender.close()
        #expect(kinds(await first) == ["not sent": 8])
        await service.stop()
    }

    @Test func aCancelledCallGivesBackWhatIsStillHere() async throws {
        let service = try await ScriptedService.start { _, _ in [] }
        let sender = try makeSender(to: service.endpoint)
        let call = Task { await sender.send(makePushes(20)) }
        try await eventually { sender.statistics.waiting >= 20 }
        call.cancel()
        #expect(kinds(await call.value) == ["not sent": 20])
        await sender.close()
        await service.stop()
    }

    @Test func aTaskThatIsCancelledAlreadySendsNothing() async throws {
        let service = try await ScriptedService.start { _, _ in [] }
        let sender = try makeSender(to: service.endpoint)
        let call = Task {
            try? await Task.sleep(for: .patience)
            return await sender.send(makePushes(3))
        }
        call.cancel()
        #expect(kinds(await call.value) == ["not sent": 3])
        await sender.close()
        await service.stop()
    }

    @Test func closingWaitsForResponsesAndRejectsLaterPushes() async throws {
        try await withSender(script: ScriptedService.always200) { sender, _ in
            #expect(kinds(await sender.send(makePushes(10))) == ["accepted": 10])
            await sender.close()
            #expect(kinds(await sender.send(makePushes(2))) == ["not sent": 2])
            await sender.close()
        }
    }

    @Test func anotherCredentialTakesAnotherConnection() async throws {
        try await withSender(script: ScriptedService.always200) { sender, service in
            #expect(await sender.send(makePushes(1)[0]).kind == "accepted")
            let key = try ProviderKey(teamID: Vectors.teamID, keyID: "OTHERKEY00", pem: Vectors.privateKey)
            try sender.use(.token(key))
            #expect(await sender.send(makePushes(1)[0]).kind == "accepted")
            #expect(service.requests.map(\.connection) == [0, 1])
            #expect(service.requests[0].authorization != service.requests[1].authorization)
        }
    }

    @Test func aStormOfExpiredTokensMakesNoNewOne() async throws {
        let time = ManualTime(Vectors.issuedAt)
        let script: ScriptedService.Script = { _, event in
            guard case .request = event else { return ScriptedService.greeting }
            return [.reply(status: 403, body: #"{"reason":"ExpiredProviderToken"}"#)]
        }
        try await withSender(script: script, time: time) { sender, service in
            #expect(kinds(await sender.send(makePushes(500))) == ["rejected": 500])
            #expect(Set(service.requests.map(\.authorization)).count == 1)
            time.advance(by: .seconds(21 * 60))
            #expect(kinds(await sender.send(makePushes(1))) == ["rejected": 1])
            #expect(kinds(await sender.send(makePushes(500))) == ["rejected": 500])
            // The old one was refused at an age when another is allowed: one new token, not 500.
            #expect(Set(service.requests.map(\.authorization)).count == 2)
        }
    }

    @Test(arguments: [(429, "TooManyRequests"), (503, "ServiceUnavailable")])
    func refusalsThatPassSayWhenToTryAgain(status: Int, reason: String) async throws {
        let script: ScriptedService.Script = { _, event in
            guard case .request(let request) = event else { return ScriptedService.greeting }
            let headers = request.number == 0 ? [] : [("retry-after", "120")]
            return [.reply(status: status, headers: headers, body: #"{"reason":"\#(reason)"}"#)]
        }
        try await withSender(script: script) { sender, _ in
            let advice = await sender.send(makePushes(2)).map { outcome -> Rejection.Advice? in
                if case .rejected(let rejection) = outcome { rejection.advice } else { nil }
            }
            #expect(advice == [.retry(after: nil), .retry(after: .seconds(120))])
        }
    }
}
