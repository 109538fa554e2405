internal import App

await Program.main()
