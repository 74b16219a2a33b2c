import Hummingbird
import ProviderAPI
import ProviderModel
import PushHTTP
import PushProvider
import PushSupport
import PushTypes
import WebPages

/// The pages of *Notify*, which sends the notification of an issue: the confirmation, sending, and changes while it is
/// being sent.
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

    /// Responds with the page that requests a confirmation, and shows the number of devices and the waves. A refusal is
    /// shown on the page of the issue.
    private func ask(_ request: PageRequest) async throws -> Response {
        try request.require(.send)
        let (response, publication) = try await request.issue()
        let issue = response.issue
        let plan = try await request.call(.post("\(request.issueAPI):preview"), as: NotifyPreview.self).plan
        let progress = try await NotifyProgress(issue, request)
        guard plan.refusal == nil, progress?.hasEnded ?? true else {
            let inProgress = PageError.inProgress.error(request.texts["publishing.inProgress"], kind: .conflict)
            return try await IssuePages.page(request, .init(part: .notify, error: plan.refusal ?? inProgress))
        }
        let (texts, environment) = (request.texts, plan.environment.rawValue)
        let count = request.format.number(Double(plan.devices ?? 0))
        let limits = PublicationModel.limits(plan.waves, request)
        let model: PageModel = [
            "question": texts["publishing.ask", ["count": count]], "isAgain": progress != nil,
            "button": texts["publishing.askButton", ["count": count]],
            "isNobody": plan.devices == 0, "app": request.app, "environment": environment,
            "path": "\(Dashboard.root)\(request.issuePath(request.parameter("issue")))",
            "publicationPath": "\(Dashboard.root)\(request.publicationPath("\(publication.publication.id)"))",
            "maySet": request.may(.admin),
            "facts": [
                ("issue", issue.title), ("productId", issue.productID),
                ("builds", texts["publishing.builds.\(environment)"]), ("devices", count),
                ("account", publication.publication.account ?? texts["publishing.everybody"]),
                ("waves", self.waves(plan, request)), ("limits", limits ?? texts["publishing.noLimit"]),
            ].map { ["name": texts["publishing.askFacts.\($0)"], "value": $1] as PageModel },
        ]
        return request.page("issue-notify", title: "publishing.askTitle", model)
    }

    /// Returns the number of waves, their size, and their minimum total duration, as text.
    private func waves(_ plan: IssueNotifier.Plan, _ request: PageRequest) -> String {
        let (count, words) = (Double(plan.waveCount ?? 0), PublicationModel.waves(plan.waves, request))
        guard count > 1 else { return request.texts["publishing.oneWave", ["waves": words]] }
        let time = request.format.duration(seconds: (count - 1) * Double(plan.waves.interval))
        return request.texts[
            "publishing.manyWaves",
            ["count": request.format.number(count), "waves": words, "time": time]
        ]
    }

    /// Calls the API operation *Notify*, which creates only one notification, even if it is called several times.
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
        let issue = try await request.issue().issue.issue
        return request.live { request in
            guard let progress = try await NotifyProgress(issue, request) else { return .init(html: "", isFinal: true) }
            return .init(
                html: request.part("issue-progress", ["progress": progress.model(request)]),
                count: progress.left > 0 ? Int64(progress.left) : nil,
                isFinal: progress.isFinal
            )
        }
    }

    private func change(_ operation: String, _ request: PageRequest) async throws -> Response {
        try request.require(.send)
        let (response, _) = try await request.issue()
        do {
            guard let id = response.issue.notification else { throw RequestError.noSuch("notification") }
            let answer = try await request.call(.post("/v1/notifications/\(id):\(operation)"))
            let path = request.issuePath(request.parameter("issue"))
            return request.redirect(to: path, done: operation, after: answer)
        } catch let error as RequestError {
            return try await IssuePages.page(request, .init(part: .state, error: error))
        }
    }
}
