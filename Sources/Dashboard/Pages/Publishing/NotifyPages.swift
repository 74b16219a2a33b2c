import Hummingbird
import PushHTTP
import PushStore
import PushSupport
import WebPages

/// *Notify*: the question with its figures, the sending, and what changes the notification while it is sent.
struct NotifyPages: PageArea {
    var routes: [PageRoute] {
        [
            .get("/apps/{app}/publishing/issues/{issue}/notify", self.ask),
            .post("/apps/{app}/publishing/issues/{issue}/notify", self.notify),
            .get("/apps/{app}/publishing/issues/{issue}/live", self.live),
            .post("/apps/{app}/publishing/issues/{issue}/pause", { try await self.change("pause", $0) }),
            .post("/apps/{app}/publishing/issues/{issue}/resume", { try await self.change("resume", $0) }),
            .post("/apps/{app}/publishing/issues/{issue}/cancel", { try await self.change("cancel", $0) }),
        ]
    }

    /// Asks, with the figures at stake. What is refused is said on the page of the issue.
    private func ask(_ request: PageRequest) async throws -> Response {
        try request.require(.send)
        let (issue, publication) = try await request.issue()
        let preview = try await request.call(.post("\(request.issueAPI):preview"))
        let progress = try await NotifyProgress(issue, request)
        guard preview["refusal"] == .null, progress?.hasEnded ?? true else {
            return try await IssuePages.page(request, .init(part: .notify, error: Self.refusal(preview, request)))
        }
        let (texts, format) = (request.texts, request.format)
        let count = format.number(preview["devices"].numberValue ?? 0)
        let limits = PublicationModel.limits(preview["waves"]["steering"], request)
        let model: PageModel = [
            "question": texts["publishing.ask", ["count": count]], "isAgain": progress != nil,
            "button": texts["publishing.askButton", ["count": count]],
            "isNobody": preview["devices"].integerValue == 0, "app": request.app,
            "environment": preview["environment"].stringValue ?? "",
            "path": "\(Dashboard.root)\(request.issuePath(request.parameter("issue")))",
            "publicationPath": "\(Dashboard.root)\(request.publicationPath(publication["id"].stringValue ?? ""))",
            "maySet": request.may(.admin),
            "facts": [
                ("issue", issue["title"].stringValue ?? ""), ("productId", issue["productId"].stringValue ?? ""),
                ("builds", texts["publishing.builds.\(preview["environment"].stringValue ?? "")"]),
                ("devices", count), ("account", publication["account"].stringValue ?? texts["publishing.everybody"]),
                ("waves", self.waves(preview, request)), ("limits", limits ?? texts["publishing.noLimit"]),
            ].map { ["name": texts["publishing.askFacts.\($0)"], "value": $1] as PageModel },
        ]
        return request.page("issue-notify", title: "publishing.askTitle", model)
    }

    private static func refusal(_ preview: JSONValue, _ request: PageRequest) -> RequestError {
        guard let message = preview["refusal"]["message"].stringValue else {
            return PageProblem.inProgress.error(request.texts["publishing.inProgress"], kind: .conflict)
        }
        return RequestError(.conflict, code: preview["refusal"]["code"].stringValue ?? "refused", message: message)
    }

    /// Returns the number of the waves and the time that they take at least.
    private func waves(_ preview: JSONValue, _ request: PageRequest) -> String {
        let waves = preview["waves"]
        let (count, interval) = (preview["waveCount"].numberValue ?? 0, waves["intervalSeconds"].numberValue ?? 0)
        let words = PublicationModel.waves(waves, request)
        guard count > 1 else { return request.texts["publishing.oneWave", ["waves": words]] }
        let time = request.format.duration(seconds: (count - 1) * interval)
        return request.texts[
            "publishing.manyWaves",
            ["count": request.format.number(count), "waves": words, "time": time]
        ]
    }

    /// Sends by the operation of the API, which makes one notification however often it is called.
    private func notify(_ request: PageRequest) async throws -> Response {
        try request.require(.send)
        _ = try await request.issue()
        do {
            let body: JSONValue = request.form["again"] == "yes" ? .object(["again": .bool(true)]) : .object([:])
            _ = try await request.call(.post("\(request.issueAPI):notify", body))
            return request.redirect(to: request.issuePath(request.parameter("issue")), done: "notified")
        } catch let error as RequestError {
            return try await IssuePages.page(request, .init(part: .notify, error: error))
        }
    }

    private func live(_ request: PageRequest) async throws -> Response {
        let (issue, _) = try await request.issue()
        return request.live { request in
            guard let progress = try await NotifyProgress(issue, request) else { return .init(html: "", isFinal: true) }
            return .init(
                html: request.part("issue-progress", ["progress": progress.model(request)]),
                count: progress.left > 0 ? progress.left : nil,
                isFinal: progress.isFinal
            )
        }
    }

    /// Pauses, resumes or cancels the issue's notification.
    private func change(_ operation: String, _ request: PageRequest) async throws -> Response {
        try request.require(.send)
        let (issue, _) = try await request.issue()
        do {
            guard let id = issue["notification"].stringValue else { throw RequestError.noSuch("notification") }
            let answer = try await request.call(.post("/v1/notifications/\(FormText.encoded(id)):\(operation)"))
            let path = request.issuePath(request.parameter("issue"))
            return request.redirect(to: path, done: operation, after: answer)
        } catch let error as RequestError {
            return try await IssuePages.page(request, .init(part: .state, error: error))
        }
    }
}
