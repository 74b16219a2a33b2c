import Foundation
import MartletKit
import PushSupport

extension Simulator {
    /// Executes a command of the user.
    /// - Returns: The response as text and as JSON, or `nil` for a command without a response.
    /// - Throws: ``PhoneError`` for a command that is not possible now, or ``WaitError`` for a wait that timed out.
    package func perform(_ command: PhoneCommand) async throws -> SimulatorResponse? {
        switch command {
        case .list: return SimulatorResponse(lines: self.center.lines, json: self.center.json)
        case .status: return await self.status()
        case .open(let number): try await self.open(number)
        case .dismiss(let number): try await self.dismiss(number)
        case .action(let number, let id, let text): try await self.act(on: number, id: id, text: text)
        case .convert(let name): try await self.convert(name)
        case .background: self.isInForeground = false
        case .foreground: try await self.comeForward()
        case .badge(let number): try self.setBadge(number)
        case .login(let proof):
            try await self.app.martlet.attach(userProof: proof)
            await self.synchronize()
        case .logout:
            try await self.app.martlet.detach()
            await self.synchronize()
        case .reinstall: try await self.reinstall()
        case .optOut(let category): try await self.prefer { $0.optOuts.insert(category) }
        case .optIn(let category): try await self.prefer { $0.optOuts.remove(category) }
        case .quiet(let times): try await self.prefer { $0.quietHours = times }
        case .deny(let capability): try await self.allow { $0.subtract(capability) }
        case .allow(let capability): try await self.allow { $0.formUnion(capability) }
        case .flush: await self.synchronize()
        case .wait(let name, let count, let seconds): try await self.log.wait(for: name, count: count, seconds: seconds)
        case .stay: try await Task.sleep(for: .seconds(Int64.max / 4))
        case .help: return SimulatorResponse(help: PhoneCommand.helpText)
        case .quit: break
        }
        return nil
    }

    /// Sends pending changes and receipts until `limit` has passed.
    /// - Returns: The number of receipts that are left for the next run.
    package func flush(within limit: Duration = Simulator.flushTime) async -> Int {
        let martlet = self.app.martlet
        await martlet.synchronize(within: limit)
        return await martlet.status()?.waitingReceipts ?? 0
    }

    private func synchronize() async { await self.app.martlet.synchronize() }

    private func status() async -> SimulatorResponse {
        let status = await self.app.martlet.status()
        let permissions = self.center.capabilities.names
        let optOuts = status?.preferences.optOuts.sorted() ?? []
        let hours = status?.preferences.quietHours.map { "\($0.from) to \($0.to)" }
        let rows: [(String, String?)] = [
            ("installation", status?.installation.uuidString), ("device token", self.deviceToken),
            ("activity token", self.activityToken.map { "\($0) (\(self.center.activityTokenKind.rawValue))" }),
            ("registered", status.map { $0.isConfirmed ? "yes" : "not yet" }),
            ("app is", self.isInForeground ? "in the foreground" : "in the background"),
            ("allowed", permissions.joined(separator: ", ")), ("opted out of", optOuts.joined(separator: ", ")),
            ("quiet hours", hours), ("receipts that wait", status.map { "\($0.waitingReceipts)" }),
        ]
        let lines = rows.compactMap { name, value in
            value.flatMap { $0.isEmpty ? nil : "\(name.padding(toLength: 20, withPad: " ", startingAt: 0))\($0)" }
        }
        let json: [String: PushSupport.JSONValue?] = [
            "installation": status?.installation.uuidString.json, "deviceToken": self.deviceToken?.json,
            "activityToken": self.activityToken?.json,
            "activityTokenKind": self.activityToken.map { _ in self.center.activityTokenKind.rawValue.json },
            "isRegistered": status.map { .bool($0.isConfirmed) }, "isInForeground": .bool(self.isInForeground),
            "allowed": .array(permissions.map { .string($0) }), "optOuts": .array(optOuts.map { .string($0) }),
            "quietHours": status?.preferences.quietHours.map {
                .object(["from": .string($0.from), "to": .string($0.to)])
            }, "waitingReceipts": status.map { .integer(Int64($0.waitingReceipts)) },
        ]
        return SimulatorResponse(lines: lines, json: .object(json.compactMapValues { $0 }))
    }

    private func setBadge(_ number: Int) throws {
        let badge: Int
        do {
            // The extension's next increment starts from this number.
            badge = try self.app.serviceExtension.badge.apply(.set(number))
        } catch {
            throw PhoneError("the badge cannot be kept: \(ErrorDescription.of(error))")
        }
        self.log.report(self.center.setBadge(badge))
        self.keep()
    }

    private func open(_ number: Int?) async throws {
        let entry = try self.center.take(number)
        self.keep()
        try await self.comeForward()
        self.lastOpened = entry
        self.log.report(SimulatorEvent(.opened, entry))
        if let notification = await self.app.receive(entry.payload, .opened) { self.show(notification) }
        await self.synchronize()
    }

    private func show(_ notification: MartletKit.ReceivedNotification) {
        guard let opening = self.app.opening(notification) else { return }
        let values = opening.values.sorted { $0.key < $1.key }.map { "\($0): \(PhoneText.plain($1))" }
        let refusal = opening.refusal.map { ", the fallback: \($0)" } ?? ""
        self.log.report(
            SimulatorEvent(
                .screen,
                "\(opening.screen)(\(values.joined(separator: ", ")))\(refusal)",
                ["screen": opening.screen.json, "values": .object(opening.values), "refusal": opening.refusal?.json]
            )
        )
    }

    private func dismiss(_ number: Int?) async throws {
        let entry = try self.center.take(number)
        self.keep()
        self.log.report(SimulatorEvent(.dismissed, entry))
        await self.app.receive(entry.payload, .dismissed)
    }

    private func act(on number: Int, id: String, text: String?) async throws {
        let (entry, action) = try self.center.act(
            on: number,
            id: id,
            text: text,
            categories: self.configuration.categories
        )
        self.keep()
        if action.foreground == true { try await self.comeForward() }
        self.lastOpened = entry
        self.log.report(SimulatorEvent(.action, entry, ["action": id.json, "text": text?.json]))
        await self.app.receive(entry.payload, .action(id, text: text))
    }

    private func convert(_ name: String?) async throws {
        guard let entry = self.lastOpened else { throw PhoneError("no notification was opened yet: 'open' first") }
        guard let id = self.app.id(of: entry.payload) else {
            throw PhoneError("notification \(entry.number) asks for no receipts")
        }
        self.log.report(SimulatorEvent(.converted, entry, ["name": name?.json]))
        try await self.app.martlet.recordConversion(of: id, name: name)
        await self.synchronize()
    }

    private func comeForward() async throws {
        guard !self.isInForeground else { return }
        self.isInForeground = true
        try await self.app.martlet.updateProfile(self.profile)
    }

    private func allow(_ change: (inout Capabilities) -> Void) async throws {
        change(&self.center.capabilities)
        self.keep()
        try await self.app.martlet.updateProfile(self.profile)
        await self.synchronize()
    }

    private func prefer(_ change: (inout NotificationPreferences) -> Void) async throws {
        guard var preferences = await self.app.martlet.status()?.preferences else {
            throw PhoneError("the app's folder cannot be read")
        }
        change(&preferences)
        try await self.app.martlet.setPreferences(preferences)
        await self.synchronize()
    }

    /// Removes the app with its data, and installs it again with a new device token.
    private func reinstall() async throws {
        try await self.services.removeApp(self.identity, self.configuration.app)
        if self.activityToken != nil { try await self.services.removeApp(self.identity, self.activityTopic) }
        await self.end()
        try self.folder.removeApp(install: self.center.installs)
        self.center.removeApp()
        self.keep()
        (self.deviceToken, self.lastOpened, self.isInForeground) = (nil, nil, false)
        self.attachments = []
        self.app = try Self.app(self.configuration, self.folder, install: self.center.installs, self.log)
        await self.launch()
    }
}

extension Simulator: PhoneCommandHandler {
    package func flush() async -> Int { await self.flush(within: Self.flushTime) }
}
